package conformance

import (
	"context"
	"strings"
	"time"

	"github.com/weirlimits/weir"
)

// layeredName is the name of an algorithm by several limits.
var layeredName = weir.Layered(nil).Name()

func separatesKeys(ctx context.Context, p *probe, s subject) error {
	l, err := p.simulate(s, weir.Limit{Count: 1, Window: time.Second})
	if err != nil {
		return err
	}
	keys := p.oddKeys("k")
	if p.suite.cfg.Guest {
		keys = append(keys, "")
	}
	for _, key := range keys {
		d, err := l.take(ctx, key, l.Capacity())
		if err != nil {
			return failf("Take of the key %s: %v", quoted(key), err)
		}
		if !d.Allowed {
			return failf("the key %s was never used, and its first request is denied: it meets another key", quoted(key))
		}
	}
	for _, key := range keys {
		d, err := l.take(ctx, key, 1)
		if err != nil {
			return err
		}
		if d.Allowed {
			return failf("all of the capacity of the key %s is taken, and one more request is admitted", quoted(key))
		}
	}
	other, err := p.limiterOn(p.st, p.prefix+".b", s, l.Limit(), l.clock)
	if err != nil {
		return err
	}
	d, err := other.take(ctx, keys[0], 1)
	if err != nil {
		return err
	}
	if !d.Allowed {
		return failf("the same key under another prefix meets it")
	}
	return nil
}

func staysInSlot(_ context.Context, p *probe, s subject) error {
	for _, limit := range tried {
		l, err := p.simulate(s, limit)
		if err != nil {
			return err
		}
		for _, key := range append(p.oddKeys("k"), "", "{", "}", "{}", "{}a", "}{", "{a", "a}") {
			names := l.Keys(key)
			if len(names) == 0 {
				return failf("Keys of %s names none", quoted(key))
			}
			for _, name := range names[1:] {
				if hashed(name) != hashed(names[0]) {
					return failf("the keys %s and %s of one decision may be in two slots", quoted(names[0]), quoted(name))
				}
			}
		}
	}
	return nil
}

// hashed returns the part of a key by which Redis Cluster chooses its slot.
func hashed(key string) string {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			return tag
		}
	}
	return key
}

// leavesNothing holds the declared TTL against its bound, and then waits until every key
// must be gone.
func leavesNothing(ctx context.Context, p *probe, s subject) error {
	for _, limit := range append(tried, crowd, weir.Limit{Count: 3, Window: 7 * 24 * time.Hour}) {
		shape, err := s.Shape(limit)
		if err != nil {
			return failf("Shape of %s: %v", limit, err)
		}
		most := max(2*limit.Window, limit.Window/time.Duration(limit.Count)*time.Duration(shape.Capacity)) + goneAfter
		if shape.MaxTTL > most && s.Name() != layeredName { // layers have windows of their own
			return failf("under %s a key may live for %v: want at most %v", limit, shape.MaxTTL, most)
		}
	}
	l, err := p.limiter(s, weir.Limit{Count: 3, Window: 100 * time.Millisecond}, nil)
	if err != nil {
		return err
	}
	names := map[string]struct{}{}
	for _, n := range []int64{1, min(l.Capacity(), 2), 1} {
		for _, name := range l.Keys("k") {
			names[name] = struct{}{}
		}
		if _, err := l.take(ctx, "k", n); err != nil {
			return err
		}
		for _, name := range l.Keys("k") {
			names[name] = struct{}{}
		}
	}
	end := p.time.Now().Add(l.shape.MaxTTL + p.st.Traits().TTLGrain + goneAfter)
	for {
		asked, left := p.time.Now(), ""
		for name := range names {
			there, err := p.exists(ctx, name)
			if err != nil {
				return err
			}
			if there {
				left = name
			}
		}
		switch {
		case left == "":
			return nil
		case asked.After(end):
			return failf("the key %s is still there %v after the longest TTL, %v, and the grain",
				quoted(left), goneAfter, l.shape.MaxTTL)
		}
		if err := p.time.Sleep(ctx, 5*lookEvery); err != nil {
			return err
		}
	}
}
