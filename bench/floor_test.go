package bench_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/backend"
)

// The floor is the logarithm of the exact binomial coefficient.
func TestFloorIsTheBinomial(t *testing.T) {
	for _, c := range []struct {
		window, tick time.Duration
		n            int64
	}{
		{time.Second, 10 * time.Microsecond, 1},
		{time.Second, 10 * time.Microsecond, 10},
		{time.Minute, 500 * time.Microsecond, 1000},
		{time.Hour, 50 * time.Millisecond, 10_000},
		{time.Millisecond, time.Microsecond, 7},
		{time.Second, time.Second, 255},
	} {
		ways := new(big.Int).Binomial(int64(c.window/c.tick)+c.n, c.n)
		mantissa := new(big.Float)
		exponent := new(big.Float).SetInt(ways).MantExp(mantissa)
		m, _ := mantissa.Float64()
		require.InEpsilon(t, (float64(exponent)+math.Log2(m))/8, bench.Floor(c.window, c.tick, c.n), 1e-6, "%+v", c)
	}
	require.InDelta(t, 1, bench.Floor(time.Second, time.Second, 255), 1e-9, "256 numbers are a byte")
}

// Beside each size stands its floor, at the packed log's own tick; no log is below it.
func TestFloorStandsBesideMemory(t *testing.T) {
	c := quick(bench.Config{
		Algorithms: []weir.Algorithm{algorithms.PackedLog(nil), algorithms.SlidingLog()},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "100/1m"), Clients: 1000, Scenarios: []bench.Scenario{},
	})
	c.Callers = []int{}
	r := compare(t, c)
	require.Len(t, r.Floor, len(c.Events))
	for i, f := range r.Floor {
		require.Equal(t, c.Events[i], f.Events)
		require.InDelta(t, bench.Floor(time.Minute, 500*time.Microsecond, f.Events), f.Bytes, 1e-9)
		require.InDelta(t, 1000*f.Bytes, f.Total, 1e-6)
		for _, res := range r.Results {
			require.Less(t, f.Bytes, res.Memory[i].BytesPerKey, res.Algorithm)
		}
	}
	c.Events = []int64{}
	require.Empty(t, compare(t, c).Floor, "nothing to stand beside")
}
