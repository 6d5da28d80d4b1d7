package memory_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// A flood from many callers at once, with sweeps, resets and raw keys between, ends and
// leaves no more keys than allowed.
func TestAFloodNeverPassesMaxKeys(t *testing.T) {
	const most, callers = 500, 16
	s := open(t, &memory.Options{MaxKeys: most})
	l := limiter(t, s, algorithms.GCRA(nil), "1/10ms")
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := range 2000 {
				key := strconv.Itoa(caller) + "." + strconv.Itoa(i)
				var err error
				switch i % 50 {
				case 7:
					s.Sweep()
				case 11:
					err = l.Reset(ctx, key)
				case 13:
					_, err = s.Add(ctx, key, 1, time.Millisecond)
				default:
					_, err = l.Take(ctx, key, 1)
				}
				if err != nil {
					require.ErrorIs(t, err, store.ErrFull)
				}
				if n := s.Keys(); n > most+callers { // those about to be let in, or not
					t.Errorf("%d keys", n)
				}
			}
		})
	}
	group.Wait()
	require.LessOrEqual(t, s.Keys(), most)
}

// Whether a key is blocked is judged at the time that the caller brings.
func TestAFullStoreFollowsTheCallersClock(t *testing.T) {
	stored, brought := newClock(), newClock()
	s := open(t, &memory.Options{MaxKeys: 300, Clock: stored.Now})
	l, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 1, Window: time.Second}, s, &weir.Options{Clock: brought.Now})
	require.NoError(t, err)
	for i := range 300 {
		take(t, l, strconv.Itoa(i), 1)
	}
	_, err = l.Take(ctx, "one too many", 1)
	require.ErrorIs(t, err, store.ErrFull)
	brought.advance(time.Second)
	stored.advance(time.Second)
	for i := range 300 {
		take(t, l, "new"+strconv.Itoa(i), 1)
	}
	_, err = l.Take(ctx, "one too many", 1)
	require.ErrorIs(t, err, store.ErrFull)

	stored.advance(-time.Hour) // and what a full store believes does not outlive its clock
	brought.advance(time.Second)
	take(t, l, "after a step back", 1)
}

// A value that came into a limiter's space by another way is not shown to its step.
func TestAFullStoreAsksNoStepWithoutALimit(t *testing.T) {
	s := open(t, &memory.Options{MaxKeys: 300})
	l := limiter(t, s, algorithms.GCRA(nil), "1/1s")
	var err error
	for i := 0; err == nil; i++ {
		_, err = s.Swap(ctx, l.Keys(strconv.Itoa(i))[0], "", make([]byte, 15), time.Hour)
	}
	require.ErrorIs(t, err, store.ErrFull)
	require.Equal(t, 300, s.Keys())
}
