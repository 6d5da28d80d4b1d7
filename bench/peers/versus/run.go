package versus

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/peers"
)

// Progress is told of each piece of work when it begins; nil is told nothing.
type Progress func(what string)

// Run measures. The error says that nothing was: no server, or bad settings. Where a row fails, the error
// stands in it and the others go on; where ctx ends, the results hold what was measured until then.
func Run(ctx context.Context, settings Settings, progress Progress) (results *Results, err error) {
	if settings.Repetitions < 1 || settings.Interval <= 0 || len(settings.ServerCallers) == 0 || settings.Ticks < 1 {
		return nil, errors.New("versus: settings: want those of Full or Quick, or more of each")
	}
	// The servers outlive an interrupt until they are closed in order.
	s, err := startServers(context.WithoutCancel(ctx), slices.Max(settings.ServerCallers))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r := &run{settings: settings, servers: s, progress: progress, contenders: contenders(s)}
	results = &Results{Version: ResultsVersion, Settings: settings}
	if results.Environment, err = s.environment(ctx, settings.Seed); err != nil {
		return nil, err
	}
	for _, c := range r.contenders {
		if c.Ours {
			c.Version = commit(results.Environment)
		}
		results.Rows = append(results.Rows, c.Row)
	}
	r.measure(ctx)
	for _, c := range r.contenders {
		for _, speed := range c.Speed {
			speed.finish(c.Store)
		}
	}
	results.Ratios, results.Incomplete = ratios(results.Rows), r.stopped
	return results, nil
}

// commit shortens the commit of this tree, which is its version.
func commit(e bench.Environment) string {
	hash, dirty, _ := strings.Cut(e.Commit, "-")
	if hash == "" {
		return e.Weir
	}
	if dirty != "" {
		dirty = "-" + dirty
	}
	return hash[:min(len(hash), 8)] + dirty
}

// run is a run under way.
type run struct {
	settings   Settings
	servers    *servers
	progress   Progress
	contenders []*contender
	stopped    string // why no more is measured
}

func (r *run) measure(ctx context.Context) {
	for _, c := range r.contenders {
		r.piece(ctx, c, "precision", func() error { return r.precision(ctx, c) })
	}
	// Memory before speed: later there are many connections, whose buffers come and go.
	for _, c := range r.contenders {
		loads := r.settings.ServerMemory
		if c.Store == peers.Memory {
			loads = r.settings.LocalMemory
		}
		for _, load := range loads {
			r.piece(ctx, c, fmt.Sprintf("bytes of %d keys with %d requests", load.Keys, load.Events), func() error {
				return r.bytes(ctx, c, load)
			})
		}
	}
	for _, store := range []string{peers.Redis, peers.Memcache} {
		r.speed(ctx, store, r.settings.ServerKeys, r.settings.ServerCallers)
	}
	for _, keys := range r.settings.LocalKeys {
		r.speed(ctx, peers.Memory, keys, []int{runtime.GOMAXPROCS(0)})
	}
}

// piece does one piece of work for a row, unless the run or the row has ended.
func (r *run) piece(ctx context.Context, c *contender, what string, do func() error) {
	if r.stopped != "" || !c.alive() {
		return
	}
	what = c.String() + ": " + what
	if r.progress != nil {
		r.progress(what)
	}
	err := ctx.Err()
	if err == nil {
		err = do()
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.stopped = fmt.Sprintf("%v during %s", context.Cause(ctx), what)
	default:
		c.Error = err.Error()
	}
}

// speed measures all rows on one store, one repetition of each after the other, so that what changes on
// the machine meanwhile meets all alike.
func (r *run) speed(ctx context.Context, store string, keys int, levels []int) {
	if r.stopped == "" {
		if err := r.servers.empty(ctx); err != nil {
			r.stopped = err.Error()
		}
	}
	sweep, resume := restGC()
	defer resume()
	list := shuffled(keys, r.settings.Seed)
	loops := map[*contender]*loop{}
	for _, c := range r.contenders {
		if c.Store == store {
			r.piece(ctx, c, fmt.Sprintf("%d keys", keys), func() (err error) {
				loops[c], err = newLoop(ctx, c, list, levels)
				return err
			})
		}
	}
	for i := range r.settings.Repetitions {
		for _, n := range levels {
			for _, c := range r.contenders {
				if loops[c] == nil {
					continue
				}
				r.piece(ctx, c, fmt.Sprintf("%d keys, %d callers, repetition %d", keys, n, i+1), func() error {
					return loops[c].repeat(ctx, r.servers, n, r.settings.Interval)
				})
			}
		}
		sweep()
	}
	for c, l := range loops {
		if l == nil {
			continue
		}
		if err := l.limiter.Close(); err != nil && c.Error == "" {
			c.Error = err.Error()
		}
	}
}
