package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/weirlimits/weir/store"
)

// The concurrent histories that the counter and compare-and-swap are tried with.
const (
	groups      = 6 // how many
	groupSize   = 6 // callers of each
	groupEvents = 42
	groupKeys   = 2
)

// eachGroup draws histories of random events, makes them and has them judged.
func eachGroup[E, C any](ctx context.Context, p *probe, draw func(i int) E, caller func(E) int, run func(r *recorder[C], space string, e E) error, judge func([]operation[C]) error) error {
	for range groups * p.suite.cfg.Effort {
		events := make([]E, groupEvents)
		for i := range events {
			events[i] = draw(i)
		}
		if err := shortest(ctx, p, events, func(_ context.Context, space string, events []E) error {
			var r recorder[C]
			parts := make([][]E, groupSize)
			for _, e := range events {
				parts[caller(e)] = append(parts[caller(e)], e)
			}
			if err := atOnce(parts, func(e E) error { return run(&r, space, e) }); err != nil {
				return err
			}
			return judge(r.all)
		}); err != nil {
			return err
		}
	}
	return nil
}

// counted is an addition by one of the callers, a deletion, or with a delta of zero a
// reading, and the count that it was told.
type counted struct {
	caller, key int
	delta, told int64
}

func counterLinearizable(ctx context.Context, p *probe) error {
	st := p.st.(store.Counter)
	h := counterHolder(st)
	return eachGroup(ctx, p,
		func(int) counted {
			c := counted{caller: p.rng.IntN(groupSize), key: p.rng.IntN(groupKeys)}
			switch p.rng.IntN(10) {
			case 0:
				c.delta = forget
			case 1, 2, 3: // a reading
			case 4, 5:
				c.delta = -1 - p.rng.Int64N(3)
			default:
				c.delta = 1 + p.rng.Int64N(3)
			}
			return c
		},
		func(c counted) int { return c.caller },
		func(r *recorder[counted], space string, c counted) error {
			key := p.key(fmt.Sprint(space, c.key))
			return r.call(c.caller, c.key, func() (_ counted, err error) {
				switch c.delta {
				case 0:
					c.told, err = h.get(ctx, key)
				case forget:
					err = st.Delete(ctx, key)
				default:
					c.told, err = st.Add(ctx, key, c.delta, time.Minute)
				}
				return c, err
			})
		},
		func(all []operation[counted]) error {
			return sequential[int64, counted]{
				step: func(n int64, c counted, _ bool) (int64, bool) {
					if c.delta == forget {
						return 0, true
					}
					n = max(n+c.delta, 0)
					return n, n == c.told
				},
				reads: func(c counted) bool { return c.delta == 0 },
				show: func(key int, c counted) string {
					switch c.delta {
					case 0:
						return fmt.Sprintf("Read(k%d) = %d", key, c.told)
					case forget:
						return fmt.Sprintf("Delete(k%d)", key)
					default:
						return fmt.Sprintf("Add(k%d, %d) = %d", key, c.delta, c.told)
					}
				},
			}.judge(all, "two counters")
		},
	)
}

// exchange is a load, a deletion, or a swap to a value of its own at the version that its
// caller loaded last or at none. A value is stored once, so it stands for its version.
type exchange struct {
	caller, key int
	kind        swapEvent
	at, next    string // a swap's values; empty: no key
	told        string // what was loaded
	done        bool   // whether it was swapped
}

func swapLinearizable(ctx context.Context, p *probe) error {
	st := p.st.(store.Swapper)
	kinds := []swapEvent{swapRemember, swapRemember, swapRemembered, swapRemembered, swapRemembered, swapCreate, swapDelete}
	type seen struct {
		space, value string
		version      store.Version
	}
	var loaded [groupSize][groupKeys]seen // each caller's own
	return eachGroup(ctx, p,
		func(i int) exchange {
			kind := kinds[p.rng.IntN(len(kinds))]
			return exchange{caller: p.rng.IntN(groupSize), key: p.rng.IntN(groupKeys), kind: kind, next: fmt.Sprint("value ", i)}
		},
		func(e exchange) int { return e.caller },
		func(r *recorder[exchange], space string, e exchange) error {
			key, last := p.key(fmt.Sprint(space, e.key)), &loaded[e.caller][e.key]
			if last.space != space {
				*last = seen{space: space}
			}
			return r.call(e.caller, e.key, func() (_ exchange, err error) {
				switch e.kind {
				case swapRemember:
					var value []byte
					value, last.version, err = st.Load(ctx, key)
					last.value = string(value)
					e.told = last.value
				case swapRemembered:
					e.at = last.value
					e.done, err = st.Swap(ctx, key, last.version, []byte(e.next), time.Minute)
				case swapCreate:
					e.done, err = st.Swap(ctx, key, "", []byte(e.next), time.Minute)
				default:
					err = st.Delete(ctx, key)
				}
				return e, err
			})
		},
		func(all []operation[exchange]) error {
			return sequential[string, exchange]{
				step:  stepExchange,
				reads: func(e exchange) bool { return e.kind == swapRemember || e.kind != swapDelete && !e.done },
				show:  showExchange,
			}.judge(all, "two keys")
		},
	)
}

func stepExchange(value string, e exchange, known bool) (string, bool) {
	switch e.kind {
	case swapRemember:
		return value, value == e.told
	case swapDelete:
		return "", true
	}
	if value == e.at {
		return e.next, e.done || !known
	}
	return value, !e.done
}

func showExchange(key int, e exchange) string {
	switch e.kind {
	case swapRemember:
		return fmt.Sprintf("Load(k%d) = %q", key, e.told)
	case swapDelete:
		return fmt.Sprintf("Delete(k%d)", key)
	default:
		at := "no version"
		if e.at != "" {
			at = fmt.Sprintf("the version of %q", e.at)
		}
		return fmt.Sprintf("Swap(k%d, %s, %q) = %t", key, at, e.next, e.done)
	}
}
