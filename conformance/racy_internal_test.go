package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/racy"
	"github.com/weirlimits/weir/store"
)

// pretender claims that a racy plan is atomic. Where there is a step of the same algorithm,
// it has that too, for the comparison.
type pretender struct {
	weir.Algorithm
	sound weir.Algorithm
}

func (p pretender) Shape(l weir.Limit) (weir.Shape, error) {
	shape, err := p.Algorithm.Shape(l)
	if err != nil {
		return shape, err
	}
	shape.Plans[0].Racy = false
	if p.sound != nil {
		sound, err := p.sound.Shape(l)
		if err != nil {
			return shape, err
		}
		shape.Plans = append(shape.Plans, sound.Plans[0])
	}
	return shape, nil
}

// A plan that says that it is racy has nothing to keep; one that is racy and does not say
// so is found.
func TestRacyPlans(t *testing.T) {
	slow := func(f *faulty) store.Store { // others come between a look and a write
		f.members = func(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
			linger(func() bool { return false })
			return f.inner.AddMembers(ctx, key, ttl, members...)
		}
		f.push = func(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
			linger(func() bool { return false })
			return f.inner.PushFront(ctx, key, ttl, values...)
		}
		return f
	}
	for _, c := range []struct {
		algorithm pretender
		plan      string
		rules     []string
	}{
		{pretender{racy.SlidingLog(), algorithms.SlidingLog()}, "sorted set, command by command", []string{"concurrent", "linearizable", "own-time"}},
		{pretender{racy.RingLog(), nil}, "list, command by command", []string{"own-time"}},
	} {
		for _, rule := range c.rules {
			name := c.algorithm.String() + "/" + c.plan + "/" + rule
			require.Equal(t, Fail, tryOne(t, name, []weir.Algorithm{c.algorithm}, slow).Status, name)
		}
	}
	for _, a := range racy.All()[:1] {
		for _, rule := range []string{"concurrent", "own-time"} {
			r := tryOne(t, a.String()+"/sorted set, command by command/"+rule, []weir.Algorithm{a}, slow)
			require.Equal(t, Unsupported, r.Status, rule)
			require.Contains(t, r.Detail, "not atomic")
		}
	}
}
