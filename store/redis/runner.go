package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"sync"

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
	weight func(store.Args) int
}

// Prepare implements [store.Scripter]. It makes no round trip; a mistake in the step's
// Lua shows when it first runs.
func (s *Store) Prepare(step *store.Step, space string) (store.Runner, error) {
	switch {
	case s.closed.Load():
		return nil, fmt.Errorf("redis: prepare: %w", store.ErrClosed)
	case s.wrong != nil:
		return nil, s.wrong
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
	return &runner{store: s, script: s.script(source), space: space, name: step.Name, weight: step.Weight}
}

// script returns the one with this source: limiters that share a step share it.
func (s *Store) script(source string) *script {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := newScript(source)
	if known := s.scripts[sc.hash]; known != nil {
		return known
	}
	s.scripts[sc.hash] = sc
	return sc
}

var requests = sync.Pool{New: func() any {
	return &request{gathering: gathering{done: make(chan struct{}, 1)}}
}}

// Run implements [store.Runner].
func (r *runner) Run(ctx context.Context, key string, args store.Args) (store.Reply, error) {
	if err := r.store.ready(ctx); err != nil { // and not after a wait in line
		return store.Reply{}, r.failed(err)
	}
	q := requests.Get().(*request)
	q.runner, q.key, q.args = r, r.space+key, args
	var alone bool
	if g := r.store.gather; g == nil {
		alone = r.store.decide(ctx, []*request{q}, r.store.exchange)
	} else {
		var gone error
		if alone, gone = g.run(ctx, q); gone != nil {
			return store.Reply{}, r.failed(gone)
		}
	}
	reply, err := q.reply, q.err
	if alone {
		*q = request{gathering: gathering{done: q.done}}
		requests.Put(q)
	}
	return reply, err
}

func (r *runner) failed(err error) error { return fmt.Errorf("redis: %s: %w", r.name, err) }
