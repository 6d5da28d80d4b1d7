package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"

	"github.com/weirlimits/weir/store"
)

//go:embed lua/driver.lua
var driverLua string

//go:embed lua/driver_value.lua
var driverValueLua string

//go:embed lua/driver_keyed.lua
var driverKeyedLua string

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// runner is a step and its driver, as one script.
type runner struct {
	store  *Store
	script *script
	space  string
	name   string
}

// Prepare implements [store.Scripter]. It makes no round trip; a mistake in the step's
// Lua shows when it first runs.
func (s *Store) Prepare(step *store.Step, space string) (store.Runner, error) {
	switch {
	case s.closed.Load():
		return nil, fmt.Errorf("redis: prepare: %w", store.ErrClosed)
	case step == nil:
		return nil, errors.New("redis: prepare: step nil: want one")
	case !identifier.MatchString(step.Name):
		return nil, fmt.Errorf("redis: prepare: step name %q: want a Lua identifier", step.Name)
	case step.Lua == "":
		return nil, fmt.Errorf("redis: prepare: step %s has no Lua twin: want the source of one", step.Name)
	}
	return s.prepare(step, space), nil
}

func (s *Store) prepare(step *store.Step, space string) *runner {
	driver := driverValueLua
	if step.Keyed {
		driver = driverKeyedLua
	}
	source := fmt.Sprintf("-- weir: %s\nlocal HOUSEKEEPING_TTL = %d\nlocal step = (function()\n%s\nend)()\n%s\n%s",
		step.Name, store.HousekeepingTTL.Microseconds(), step.Lua, driverLua, driver)
	return &runner{store: s, script: newScript(source), space: space, name: step.Name}
}

// Run implements [store.Runner].
func (r *runner) Run(ctx context.Context, key string, args store.Args) (store.Reply, error) {
	replies, errs := r.decide(ctx, []request{{key: key, args: args}})
	return replies[0], errs[0]
}
