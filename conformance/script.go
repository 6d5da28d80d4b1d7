package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirlimits/weir/store"
)

var scriptChecks = []check{
	{
		name: "script/step", rule: "Run does what the step's Go function does, and keeps its state",
		needs: store.CapScript, run: scriptStep,
	},
	{
		name: "script/atomic", rule: "64 callers run a step at once: none is lost, and each is told another result",
		needs: store.CapScript, run: scriptAtomic,
	},
	{
		name: "script/unchanged", rule: "a step that returns no state writes nothing",
		needs: store.CapScript, run: scriptUnchanged,
	},
	{
		name: "script/time", rule: "with OwnTime a step sees the store's time, and else the caller's",
		needs: store.CapScript, run: scriptTime,
	},
	{
		name: "script/corrupt", rule: "a state that the step does not recognise is ErrCorrupt and stays as it is",
		needs: store.CapScript | store.CapSwap, run: scriptCorrupt,
	},
	{
		name: "script/names", rule: "a key's full name is its space and its key, to Load and to Delete",
		needs: store.CapScript | store.CapSwap, run: scriptNames,
	},
	{
		name: "script/keys", rule: "any bytes are a key, and two keys never meet",
		needs: store.CapScript, run: scriptKeys,
	},
	{
		name: "script/ttl", rule: "a state lives at least the TTL that the step gives, whatever peeks, and is gone soon after",
		needs: store.CapScript, waits: true,
		run: func(ctx context.Context, p *probe) error {
			l, err := scriptLife(ctx, p)
			if err != nil {
				return err
			}
			return p.watch(ctx, l)
		},
	},
	{
		name: "script/ttl-renewed", rule: "a state that a step writes has the TTL that comes with it",
		needs: store.CapScript, waits: true,
		run: func(ctx context.Context, p *probe) error {
			l, err := scriptLife(ctx, p)
			if err != nil {
				return err
			}
			l.half, l.renews = l.create, true
			return p.watch(ctx, l)
		},
	},
}

// runner prepares a step in a space of the check's own.
func (p *probe) runner(step *store.Step) (store.Runner, string, error) {
	space := p.key(step.Name + "/")
	r, err := p.st.(store.Scripter).Prepare(step, space)
	return r, space, err
}

// scriptLife looks whether the state is there by a step that returns none.
func scriptLife(ctx context.Context, p *probe) (life, error) {
	r, space, err := p.runner(sumStep)
	p.remember(space + "k")
	return life{
		create: func() error {
			_, err := r.Run(ctx, "k", sumArgs(1, watchedTTL))
			return err
		},
		alive: func() (bool, error) {
			reply, err := r.Run(ctx, "k", sumArgs(0, time.Hour))
			return reply.Remaining > 0, err
		},
	}, err
}

func scriptStep(ctx context.Context, p *probe) error {
	for _, step := range []*store.Step{sumStep, keyedSumStep} {
		r, space, err := p.runner(step)
		if err != nil {
			return err
		}
		for range 2 * p.suite.cfg.Effort {
			costs := make([]int64, 24)
			for i := range costs {
				costs[i] = p.rng.Int64N(1 << p.rng.IntN(45))
				if p.rng.IntN(4) == 0 {
					costs[i] = -costs[i]
				}
			}
			if err := shortest(ctx, p, costs, func(ctx context.Context, name string, costs []int64) error {
				p.remember(space + name)
				return sumAll(ctx, r, step, name, costs)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func sumAll(ctx context.Context, r store.Runner, step *store.Step, key string, costs []int64) error {
	var j journal
	var state []byte
	for i, cost := range costs {
		args := sumArgs(cost, time.Minute)
		args.OwnTime, args.Now = false, 1_700_000_000_000_000+int64(i)
		want := step.Func(bytes.Clone(state), args)
		if want.State != nil {
			state = want.State
		}
		got, err := r.Run(ctx, key, args)
		if err != nil {
			return err
		}
		j.note("Run(%s, cost %d) = %+v", step.Name, cost, got)
		if got != want.Reply {
			return j.failf("Run returns %+v: want %+v, as the step's Go function", got, want.Reply)
		}
	}
	return nil
}

func scriptAtomic(ctx context.Context, p *probe) error {
	for _, step := range []*store.Step{sumStep, keyedSumStep} {
		r, space, err := p.runner(step)
		if err != nil {
			return err
		}
		for round := range p.suite.cfg.Effort {
			key := fmt.Sprint("hot", round)
			p.remember(space + key)
			const each = 4
			told := make([][]int64, callers)
			if err := together(func(i int) error {
				for range each {
					reply, err := r.Run(ctx, key, sumArgs(1, time.Minute))
					if err != nil {
						return err
					}
					told[i] = append(told[i], reply.Remaining)
				}
				return nil
			}); err != nil {
				return err
			}
			if err := allDifferent(slices.Concat(told...), 1); err != nil {
				return err
			}
		}
	}
	return nil
}

func scriptUnchanged(ctx context.Context, p *probe) error {
	for _, step := range []*store.Step{sumStep, keyedSumStep} {
		r, space, err := p.runner(step)
		if err != nil {
			return err
		}
		if _, err := r.Run(ctx, "k", sumArgs(0, time.Minute)); err != nil {
			return err
		}
		there, err := p.exists(ctx, space+"k")
		if err != nil {
			return err
		}
		if there {
			p.remember(space + "k")
			return failf("a step that returned no state for a missing key left one there")
		}
	}
	return nil
}

func scriptTime(ctx context.Context, p *probe) error {
	r, _, err := p.runner(sumStep)
	if err != nil {
		return err
	}
	args := store.Args{Now: 1_234_567_890_123_456, Params: []int64{1, 1}}
	reply, err := r.Run(ctx, "k", args)
	if err != nil {
		return err
	}
	if reply.Remaining != 0 || reply.ResetAfter != args.Now {
		return failf("a step without OwnTime saw the time %d, OwnTime %t: want the caller's %d", reply.ResetAfter, reply.Remaining == 1, args.Now)
	}
	clock, ok := p.st.(store.Clock)
	if !ok {
		return nil
	}
	before, err := clock.Now(ctx)
	if err != nil {
		return err
	}
	args.OwnTime = true
	if reply, err = r.Run(ctx, "k", args); err != nil {
		return err
	}
	after, err := clock.Now(ctx)
	if err != nil {
		return err
	}
	if reply.Remaining != 1 || reply.ResetAfter < before.UnixMicro() || reply.ResetAfter > after.UnixMicro() {
		return failf("a step with OwnTime saw the time %d, OwnTime %t: want one from %d to %d, as Now tells",
			reply.ResetAfter, reply.Remaining == 1, before.UnixMicro(), after.UnixMicro())
	}
	return nil
}

func scriptCorrupt(ctx context.Context, p *probe) error {
	st := p.st.(store.Swapper)
	r, space, err := p.runner(sumStep)
	if err != nil {
		return err
	}
	p.remember(space + "k")
	junk := []byte("no state of this step")
	if _, err := st.Swap(ctx, space+"k", "", junk, time.Minute); err != nil {
		return err
	}
	for _, cost := range []int64{0, 1} {
		if reply, err := r.Run(ctx, "k", sumArgs(cost, time.Minute)); !errors.Is(err, store.ErrCorrupt) {
			return failf("Run on a state that the step does not recognise gives %+v, %v: want ErrCorrupt", reply, err)
		}
	}
	value, _, err := st.Load(ctx, space+"k")
	if err != nil {
		return err
	}
	if !bytes.Equal(value, junk) {
		return failf("a state that the step did not recognise was %q, and now is %q", junk, value)
	}
	return nil
}

func scriptNames(ctx context.Context, p *probe) error {
	st := p.st.(store.Swapper)
	r, space, err := p.runner(sumStep)
	if err != nil {
		return err
	}
	p.remember(space + "k")
	if _, err := r.Run(ctx, "k", sumArgs(7, time.Minute)); err != nil {
		return err
	}
	value, _, err := st.Load(ctx, space+"k")
	if err != nil {
		return err
	}
	if string(value) != "s7" {
		return failf("Run stored a state, and Load of its full name returns %q: want %q", value, "s7")
	}
	if err := st.Delete(ctx, space+"k"); err != nil {
		return err
	}
	reply, err := r.Run(ctx, "k", sumArgs(1, time.Minute))
	if err != nil {
		return err
	}
	if reply.Remaining != 1 {
		return failf("after Delete of its full name a step still has its state")
	}
	return nil
}

// scriptKeys puts the odd keys behind a space, and two spaces beside each other.
func scriptKeys(ctx context.Context, p *probe) error {
	var runners []store.Runner
	var spaces []string
	for _, step := range []*store.Step{sumStep, keyedSumStep} {
		r, space, err := p.runner(step)
		if err != nil {
			return err
		}
		runners, spaces = append(runners, r), append(spaces, space)
	}
	keys := p.oddKeys("k")
	if p.suite.cfg.Guest {
		keys = append(keys, "") // behind a space it is nobody else's
	}
	for i, key := range keys {
		for s, r := range runners {
			p.remember(spaces[s] + key)
			reply, err := r.Run(ctx, key, sumArgs(int64(1+2*i+s), time.Minute))
			if err != nil {
				return failf("Run on the key %s: %v", quoted(key), err)
			}
			if want := int64(1 + 2*i + s); reply.Remaining != want {
				return failf("the key %s in space %s is new, and its total is %d: want %d", quoted(key), quoted(spaces[s]), reply.Remaining, want)
			}
		}
	}
	return nil
}
