package choose

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/weirlimits/weir/internal/footprint"
)

//go:generate go run ../internal/footprint/gen

//go:embed model.json
var modelJSON []byte

// measured returns what docs/results holds, condensed.
var measured = sync.OnceValues(func() (m footprint.Model, err error) {
	if err = json.Unmarshal(modelJSON, &m); err != nil {
		err = fmt.Errorf("choose: model.json: %w", err)
	}
	return m, err
})
