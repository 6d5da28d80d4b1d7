package footprint_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/footprint"
	"github.com/weirlimits/weir/store/memory"
)

func client(t *testing.T, name string, limit weir.Limit, requests int64) footprint.Client {
	t.Helper()
	a, err := algorithms.Parse(name)
	require.NoError(t, err)
	shape, err := a.Shape(limit)
	require.NoError(t, err)
	return footprint.Client{
		Algorithm: a, Plan: shape.Plans[0], Limit: limit, Prefix: "weir", Key: "10.0.0.1", Requests: requests, Cost: 1,
	}
}

// Keys are named as weir.New names them.
func TestSpaceIsThatOfALimiter(t *testing.T) {
	t.Parallel()
	st := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	limit := weir.Limit{Count: 10, Window: 90 * time.Second}
	for _, a := range algorithms.All() {
		l, err := weir.New(a, limit, st, nil)
		require.NoError(t, err)
		space, err := client(t, a.String(), limit, 1).Space()
		require.NoError(t, err)
		require.Equal(t, l.Keys("10.0.0.1")[0], space+"10.0.0.1")
	}
}

// What is not played is extrapolated: near what it would have been.
func TestExtrapolation(t *testing.T) {
	t.Parallel()
	limit := weir.Limit{Count: 40_000, Window: time.Hour}
	for name, want := range map[string]float64{
		"gcra": 15, "fixed-window": 16, "packed-log": 40_000 * 1, "packed-log,tick=1us": 40_000 * 3,
		"packed-log,tick=1us,error=1%": 100 * 4, "bucketed-window": 6 + 60*2, "sliding-log": 40_000 * 8,
	} {
		items, err := footprint.Fill(t.Context(), client(t, name, limit, limit.Count))
		require.NoError(t, err)
		require.Len(t, items, 1)
		require.InEpsilon(t, want, items[0].Value, 0.12, name)
	}
}

// A counter plan's window before may live beside its own.
func TestCompanionsCount(t *testing.T) {
	t.Parallel()
	c := client(t, "sliding-counter", weir.Limit{Count: 100, Window: time.Minute}, 100)
	shape, err := c.Algorithm.Shape(c.Limit)
	require.NoError(t, err)
	c.Plan = shape.Plans[len(shape.Plans)-1]
	require.Equal(t, "counter", c.Plan.Name)
	items, err := footprint.Fill(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, items, 2)
	require.True(t, items[0].Number)
	require.EqualValues(t, 3, items[0].Value)
}

// Sizes that Redis and memcached are known to take.
func TestAllocators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		item            footprint.Item
		redis, memcache float64
	}{
		{footprint.Item{Name: 46, Value: 15}, 64 + 48, 120},
		{footprint.Item{Name: 47, Value: 15}, 64 + 48, 152},
		{footprint.Item{Name: 54, Value: 16, Number: true}, 64 + 16, 152},
		{footprint.Item{Name: 10, Value: 44}, 16 + 64, 120},
		{footprint.Item{Name: 10, Value: 45}, 16 + 16 + 64, 120},
		{footprint.Item{Name: 10, Value: 70_000}, 16 + 16 + 80<<10, 82_792},
		{footprint.Item{Name: 10, Value: 1 << 20}, 16 + 16 + 1280<<10, 3 * 512 << 10},
	} {
		require.Equal(t, c.redis, footprint.Redis(c.item), "%+v", c.item)
		require.Equal(t, c.memcache, footprint.Memcached(c.item), "%+v", c.item)
	}
	require.Equal(t, 61.0, footprint.Plain(footprint.Item{Name: 46, Value: 15}))
}

func TestCurve(t *testing.T) {
	t.Parallel()
	c := footprint.Curve{{Requests: 10, Bytes: 100}, {Requests: 20, Bytes: 300}, {Requests: 21, Bytes: 900}}
	for n, want := range map[int64]float64{1: 100, 10: 100, 15: 200, 20: 300, 21: 900, 210: 9000} {
		require.Equal(t, want, c.At(n), "%d", n)
	}
	require.Zero(t, footprint.Curve{}.At(5))
	require.False(t, math.IsNaN(c.At(0)))
}
