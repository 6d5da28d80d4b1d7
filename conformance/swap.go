package conformance

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

var swapChecks = []check{
	{
		name: "swap/versions", rule: "Swap stores only if the key is still at the version; the empty one only where there is no key",
		needs: store.CapSwap, run: swapVersions,
	},
	{
		name: "swap/atomic", rule: "of 64 callers that swap from one version exactly one succeeds, and its value stays",
		needs: store.CapSwap, run: swapAtomic,
	},
	{
		name: "swap/linearizable", rule: "what callers who load, swap and delete at once are told, some order of their calls explains",
		needs: store.CapSwap, run: swapLinearizable,
	},
	{
		name: "swap/values", rule: "a value comes back byte for byte, empty and binary ones too, and shares no memory with the caller",
		needs: store.CapSwap, run: swapValues,
	},
	{
		name: "swap/keys", rule: "any bytes are a key, and two keys never meet",
		needs: store.CapSwap,
		run: func(ctx context.Context, p *probe) error {
			return p.distinct(ctx, "k", swapHolder(p.st.(store.Swapper)))
		},
	},
	{
		name: "swap/ttl", rule: "a value lives at least its TTL, and is gone soon after",
		needs: store.CapSwap, waits: true,
		run: func(ctx context.Context, p *probe) error { return p.watch(ctx, swapLife(ctx, p)) },
	},
	{
		name: "swap/ttl-renewed", rule: "each Swap sets the TTL anew",
		needs: store.CapSwap, waits: true,
		run: func(ctx context.Context, p *probe) error {
			l, h, key := swapLife(ctx, p), swapHolder(p.st.(store.Swapper)), p.key("k")
			l.renews = true
			l.half = func() error { return h.put(ctx, key, 2, watchedTTL) }
			return p.watch(ctx, l)
		},
	},
}

func swapHolder(st store.Swapper) holder {
	return holder{
		put: func(ctx context.Context, key string, n int64, ttl time.Duration) error {
			_, version, err := st.Load(ctx, key)
			if err != nil {
				return err
			}
			done, err := st.Swap(ctx, key, version, strconv.AppendInt(nil, n, 10), ttl)
			if err == nil && !done {
				err = failf("a Swap at the version just loaded does nothing")
			}
			return err
		},
		get: func(ctx context.Context, key string) (int64, error) {
			value, version, err := st.Load(ctx, key)
			if err != nil || version == "" {
				return 0, err
			}
			return strconv.ParseInt(string(value), 10, 64)
		},
	}
}

func swapLife(ctx context.Context, p *probe) life {
	h, key := swapHolder(p.st.(store.Swapper)), p.key("k")
	return life{
		create: func() error { return h.put(ctx, key, 1, watchedTTL) },
		alive: func() (bool, error) {
			n, err := h.get(ctx, key)
			return n > 0, err
		},
	}
}

// swapEvent is one of: remember the version, swap at the present version, at the
// remembered one, at none, and delete.
type swapEvent uint8

const (
	swapRemember swapEvent = iota
	swapPresent
	swapRemembered
	swapCreate
	swapDelete
	swapEvents
)

func swapVersions(ctx context.Context, p *probe) error {
	for range 4 * p.suite.cfg.Effort {
		events := make([]swapEvent, 24)
		for i := range events {
			events[i] = swapEvent(p.rng.IntN(int(swapEvents)))
		}
		if err := shortest(ctx, p, events, p.swapAll); err != nil {
			return err
		}
	}
	return nil
}

// swapAll holds the store against one value whose every state has a number. No value is
// stored twice, so that a version which is the value itself is one too.
func (p *probe) swapAll(ctx context.Context, space string, events []swapEvent) error {
	st, key := p.st.(store.Swapper), p.key(space+"v")
	var j journal
	var want []byte // nil: no key
	var remembered store.Version
	state, rememberedAt := 0, 0
	for i, e := range events {
		value, version, err := st.Load(ctx, key)
		if err != nil {
			return err
		}
		if !bytes.Equal(value, want) || (version == "") != (want == nil) {
			j.note("Load(k) = %q, version %q", value, version)
			return j.failf("Load returns %q with version %q: want %q", value, version, want)
		}
		var expect bool
		switch e {
		case swapRemember:
			remembered, rememberedAt = version, state
			j.note("Load(k) = %q, to be remembered", value)
			continue
		case swapDelete:
			if err := st.Delete(ctx, key); err != nil {
				return err
			}
			j.note("Delete(k)")
			want, state = nil, i+1
			continue
		case swapPresent:
			expect = true
		case swapRemembered:
			version = remembered
			expect = rememberedAt == state || remembered == "" && want == nil
		case swapCreate:
			version, expect = "", want == nil
		}
		next := fmt.Appendf(nil, "value %d", i)
		done, err := st.Swap(ctx, key, version, next, time.Minute)
		if err != nil {
			return err
		}
		which := [...]string{swapPresent: "the present version", swapRemembered: "the remembered version", swapCreate: "no version"}[e]
		j.note("Swap(k, %s, %q) = %t", which, next, done)
		if done != expect {
			return j.failf("Swap returns %t: want %t", done, expect)
		}
		if done {
			want, state = next, i+1
		}
	}
	return nil
}

func swapAtomic(ctx context.Context, p *probe) error {
	st, key := p.st.(store.Swapper), p.key("hot")
	for round := range 6 * p.suite.cfg.Effort {
		_, version, err := st.Load(ctx, key)
		if err != nil {
			return err
		}
		var winners, winner atomic.Int64
		if err := together(func(i int) error {
			done, err := st.Swap(ctx, key, version, fmt.Appendf(nil, "%d of %d", i, round), time.Minute)
			if done {
				winners.Add(1)
				winner.Store(int64(i))
			}
			return err
		}); err != nil {
			return err
		}
		if n := winners.Load(); n != 1 {
			return failf("of %d swaps at one version %d succeeded: want 1", callers, n)
		}
		value, _, err := st.Load(ctx, key)
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("%d of %d", winner.Load(), round); string(value) != want {
			return failf("the swap that succeeded stored %q, and %q is there", want, value)
		}
	}
	return nil
}

func swapValues(ctx context.Context, p *probe) error {
	st := p.st.(store.Swapper)
	binary := make([]byte, 256)
	for i := range binary {
		binary[i] = byte(i)
	}
	most := p.st.Traits().MaxValue
	for i, value := range [][]byte{
		{}, {0}, binary, []byte("END\r\n"), []byte("1"), bytes.Repeat(binary, min(most, 64<<10)/len(binary)),
	} {
		key, given := p.key(fmt.Sprint("v", i)), bytes.Clone(value)
		done, err := st.Swap(ctx, key, "", given, time.Minute)
		if err != nil || !done {
			return failf("Swap of %d bytes into a new key gives %t, %v", len(value), done, err)
		}
		for at := range given {
			given[at] = '!' // ours again
		}
		for range 2 {
			got, version, err := st.Load(ctx, key)
			if err != nil {
				return err
			}
			if version == "" {
				return failf("a value of %d bytes has the empty version, which is that of a missing key", len(value))
			}
			if !bytes.Equal(got, value) {
				return failf("a value of %d bytes came back different, or changed with the caller's slice", len(value))
			}
			for at := range got {
				got[at] = '?'
			}
		}
	}
	return nil
}
