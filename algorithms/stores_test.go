package algorithms_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
)

// simulation is one algorithm on one store in simulated time.
type simulation struct {
	t       *testing.T
	clock   *simClock
	limiter *weir.Weir
}

// epoch is where simulated time starts: a multiple of every window in these tests.
const epoch = 1_699_920_000_000_000

func simulate(t *testing.T, a weir.Algorithm, limit string, st store.Store) *simulation {
	t.Helper()
	clock := newSimClock(epoch)
	return &simulation{t: t, clock: clock, limiter: newLimiter(t, a, limit, st, &weir.Options{
		Clock: clock.Now, Prefix: storetest.Prefix(t),
	})}
}

func newLimiter(t *testing.T, a weir.Algorithm, limit string, st store.Store, o *weir.Options) *weir.Weir {
	t.Helper()
	l, err := weir.ParseLimit(limit)
	require.NoError(t, err)
	limiter, err := weir.New(a, l, st, o)
	require.NoError(t, err)
	return limiter
}

// at moves the clock to so many seconds after the start and takes n.
func (s *simulation) at(seconds float64, n int64) weir.Decision {
	s.t.Helper()
	s.clock.us.Store(epoch + int64(seconds*1e6+0.5))
	d, err := s.limiter.Take(context.Background(), "k", n)
	require.NoError(s.t, err)
	return d
}

// decides takes one request at each time and compares with the letters A and D.
func (s *simulation) decides(want string, seconds ...float64) {
	s.t.Helper()
	got := ""
	for _, at := range seconds {
		got += letter(s.at(at, 1))
	}
	require.Equal(s.t, want, got, "%s at %v", s.limiter.Algorithm(), seconds)
}

func letter(d weir.Decision) string {
	if d.Allowed {
		return "A"
	}
	return "D"
}

// onStores runs fn on every store that can run the algorithm.
func onStores(t *testing.T, algorithms []weir.Algorithm, fn func(t *testing.T, a weir.Algorithm, st store.Store)) {
	storetest.Each(t, func(t *testing.T, st store.Store) {
		ran := 0
		for _, a := range algorithms {
			if _, err := weir.New(a, weir.Limit{Count: 1, Window: time.Second}, st, nil); err != nil {
				continue
			}
			ran++
			t.Run(fmt.Sprint(a), func(t *testing.T) { fn(t, a, st) })
		}
		t.Logf("%d of %d algorithms run here", ran, len(algorithms))
	})
}
