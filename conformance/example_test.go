package conformance_test

import (
	"context"
	"fmt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/conformance"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// A store that forgets to say what it can do is caught.
func ExampleCheck() {
	report, err := conformance.Check(context.Background(), conformance.Config{
		Open:       func(context.Context) (store.Store, error) { return modest{memory.New(nil)}, nil },
		Algorithms: []weir.Algorithm{algorithms.GCRA(nil)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Results {
		if r.Status >= conformance.OverClaimed {
			fmt.Printf("%s: %s: %s\n", r.Check, r.Status, r.Detail)
		}
	}
	// Output: traits/implemented: fail: implemented, but not claimed: list
}

// modest has lists, and its traits do not say so.
type modest struct{ *memory.Store }

func (m modest) Traits() store.Traits {
	t := m.Store.Traits()
	t.Capabilities &^= store.CapList
	return t
}
