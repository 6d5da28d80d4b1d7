package conformance

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/weirlimits/weir/store"
)

var traitChecks = []check{
	{
		name: "traits/declared", rule: "every capability that the traits claim is implemented",
		run: func(_ context.Context, p *probe) error {
			if lacks := p.st.Traits().Capabilities &^ store.Implemented(p.st); lacks != 0 {
				return failf("claimed, but not implemented: %s", lacks)
			}
			return nil
		},
	},
	{
		name: "traits/implemented", rule: "the traits claim every capability that is implemented",
		run: func(_ context.Context, p *probe) error {
			if silent := store.Implemented(p.st) &^ p.st.Traits().Capabilities; silent != 0 {
				return failf("implemented, but not claimed: %s", silent)
			}
			return nil
		},
	},
	{
		name: "traits/complete", rule: "the traits are filled in, agree with each other and do not change",
		run: traitsComplete,
	},
	{
		name: "traits/longest-key", rule: "keys of up to MaxKey bytes are carried, and none is mistaken for another",
		run: longestKey,
	},
	{
		name: "traits/largest-value", rule: "a value of MaxValue bytes is stored whole, and a larger one is refused",
		needs: store.CapSwap, run: largestValue,
	},
	{
		name: "traits/largest-count", rule: "a counter counts to MaxCounter exactly",
		needs: store.CapCounter, run: largestCount,
	},
	{
		name: "traits/longest-ttl", rule: "a TTL of MaxTTL is kept; a longer one is an error, and so is one of zero or less",
		run: longestTTL,
	},
}

func traitsComplete(_ context.Context, p *probe) error {
	t := p.st.Traits()
	switch {
	case t != p.st.Traits():
		return failf("two calls of Traits differ")
	case t.Name == "":
		return failf("Name is empty")
	case t.TTLGrain <= 0:
		return failf("TTLGrain is %v: want above 0", t.TTLGrain)
	case t.MaxTTL < t.TTLGrain:
		return failf("MaxTTL is %v: want at least TTLGrain, %v", t.MaxTTL, t.TTLGrain)
	case t.MaxKey < 0:
		return failf("MaxKey is %d: want 0 or more", t.MaxKey)
	case t.MaxValue <= 0 && t.Capabilities&(store.CapSwap|store.CapScript) != 0:
		return failf("MaxValue is %d: want above 0", t.MaxValue)
	case t.MaxCounter <= 0 && t.Capabilities.Has(store.CapCounter):
		return failf("MaxCounter is %d: want above 0", t.MaxCounter)
	case t.Capabilities.Has(store.CapClock) == (t.Clock == store.CallerClock):
		return failf("Clock is %q, and the capabilities are %s: want a clock in both or in neither", t.Clock, t.Capabilities)
	}
	return nil
}

// holder writes and reads a small number under a key by whatever the store has.
type holder struct {
	put func(ctx context.Context, key string, n int64, ttl time.Duration) error
	get func(ctx context.Context, key string) (int64, error)
}

func (p *probe) holder() (holder, error) {
	if counter, ok := p.st.(store.Counter); ok {
		return counterHolder(counter), nil
	}
	if swapper, ok := p.st.(store.Swapper); ok {
		return swapHolder(swapper), nil
	}
	return holder{}, unsupportedf("the store has neither a counter nor compare-and-swap")
}

func longestKey(ctx context.Context, p *probe) error {
	h, err := p.holder()
	if err != nil {
		return err
	}
	most := p.st.Traits().MaxKey
	length := most
	if most == 0 {
		length = 65_536
	}
	one := p.key("")
	if length <= len(one) {
		return inconclusivef("MaxKey is %d, and the prefix alone has %d bytes", most, len(one))
	}
	one += strings.Repeat("k", length-len(one))
	other := one[:length-1] + "l"
	p.remember(one, other)
	for i, key := range []string{one, other} {
		if err := h.put(ctx, key, int64(i+1), time.Minute); err != nil {
			return overclaimf("MaxKey is %d, but a key of %d bytes gives %v", most, length, err)
		}
	}
	for i, key := range []string{one, other} {
		switch n, err := h.get(ctx, key); {
		case err != nil:
			return overclaimf("MaxKey is %d, but a key of %d bytes gives %v", most, length, err)
		case n != int64(i+1):
			return overclaimf("MaxKey is %d, but of two keys of %d bytes that differ in the last one, one has %d: want %d",
				most, length, n, i+1)
		}
	}
	return nil
}

// tryValue is the largest value that is tried: a store that takes gigabytes is believed.
const tryValue = 4 << 20

func largestValue(ctx context.Context, p *probe) error {
	st, most := p.st.(store.Swapper), p.st.Traits().MaxValue
	key, value := p.key("large"), bytes.Repeat([]byte("v"), min(most, tryValue))
	value[len(value)-1] = 'w'
	done, err := st.Swap(ctx, key, "", value, time.Minute)
	if err != nil || !done {
		return overclaimf("MaxValue is %d, but Swap of %d bytes gives %t, %v", most, len(value), done, err)
	}
	got, _, err := st.Load(ctx, key)
	if err != nil || !bytes.Equal(got, value) {
		return overclaimf("MaxValue is %d, but of %d bytes %d came back, or others: %v", most, len(value), len(got), err)
	}
	if most >= tryValue {
		return nil
	}
	key = p.key("too large")
	if done, err := st.Swap(ctx, key, "", append(value, 'x'), time.Minute); done || err == nil {
		return failf("MaxValue is %d, and Swap of %d bytes gives %t, %v: want an error", most, most+1, done, err)
	}
	return nil
}

func largestCount(ctx context.Context, p *probe) error {
	st, most := p.st.(store.Counter), p.st.Traits().MaxCounter
	key := p.key("large")
	for _, step := range []struct{ delta, want int64 }{{most - 1, most - 1}, {1, most}, {-1, most - 1}} {
		if step.want == 0 && step.delta == 0 {
			continue
		}
		n, err := st.Add(ctx, key, step.delta, time.Minute)
		if err != nil || n != step.want {
			return overclaimf("MaxCounter is %d, but adding %d gives %d, %v: want %d", most, step.delta, n, err, step.want)
		}
		counts, err := st.Read(ctx, key)
		if err != nil || len(counts) != 1 || counts[0] != step.want {
			return overclaimf("MaxCounter is %d, but %d is read as %d, %v", most, step.want, counts, err)
		}
	}
	return nil
}

func longestTTL(ctx context.Context, p *probe) error {
	h, err := p.holder()
	if err != nil {
		return err
	}
	most := p.st.Traits().MaxTTL
	key := p.key("long")
	if err := h.put(ctx, key, 1, most); err != nil {
		return overclaimf("MaxTTL is %v, but that TTL gives %v", most, err)
	}
	if n, err := h.get(ctx, key); err != nil || n != 1 {
		return overclaimf("MaxTTL is %v, but a key with that TTL is gone at once (%d, %v)", most, n, err)
	}
	for _, ttl := range []time.Duration{0, -time.Second, most + time.Second} {
		if ttl > most && most+time.Second < most {
			continue // there is no longer one
		}
		err := h.put(ctx, p.key("wrong"), 1, ttl)
		if err == nil {
			return failf("a TTL of %v is accepted: want an error; MaxTTL is %v", ttl, most)
		}
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrClosed) {
			return err
		}
	}
	return nil
}
