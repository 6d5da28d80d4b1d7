package memory_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

// RL-007: keys that expire while they are counted are no error and let no more through.
func TestRL007KeysExpireUnderTheirCallers(t *testing.T) {
	const callers, each = 64, 300
	t.Run("counters of some nanoseconds", func(t *testing.T) {
		s := open(t, nil)
		var group sync.WaitGroup
		for caller := range callers {
			group.Go(func() {
				for i := range each {
					n, err := s.Add(ctx, "k", 1, time.Duration(10+(caller+i)%990))
					if err != nil || n < 1 || n > callers*each {
						t.Errorf("Add: %d, %v", n, err)
					}
				}
			})
		}
		group.Wait()
	})
	for _, a := range algorithms.All() {
		t.Run(a.Name(), func(t *testing.T) {
			l := limiter(t, open(t, nil), a, "20/1ms")
			var admitted atomic.Int64
			var group sync.WaitGroup
			started := time.Now()
			for range callers {
				group.Go(func() {
					for range each {
						if d, err := l.Take(ctx, "k", 1); err != nil {
							t.Error(err)
						} else if d.Allowed {
							admitted.Add(1)
						}
					}
				})
			}
			group.Wait()
			windows := int64(time.Since(started)/time.Millisecond) + 1
			shape, err := a.Shape(l.Limit())
			require.NoError(t, err)
			require.LessOrEqual(t, admitted.Load(), windows*shape.Guarantee.MaxInWindow)
		})
	}
}

// A TTL is a floor: it is counted from no earlier time than what others wrote before, also where a caller was held
// up between its look at the clock and the lock.
func TestACallerHeldUpShortensNoTTL(t *testing.T) {
	c := newClock()
	var held atomic.Bool
	looked, goOn := make(chan struct{}), make(chan struct{})
	s := open(t, &memory.Options{Clock: func() time.Time {
		now := c.Now()
		if held.CompareAndSwap(true, false) {
			close(looked)
			<-goOn
		}
		return now
	}})
	held.Store(true)
	done := make(chan error)
	go func() {
		_, err := s.Add(ctx, "k", 1, time.Minute)
		done <- err
	}()
	<-looked
	c.advance(time.Second)
	_, err := s.Add(ctx, "k", 1, time.Hour)
	require.NoError(t, err)
	require.NoError(t, s.Delete(ctx, "k"))
	close(goOn)
	require.NoError(t, <-done)
	ttl, err := s.TTL(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, time.Minute, ttl)
}
