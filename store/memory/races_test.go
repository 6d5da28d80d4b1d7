package memory_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/algorithms"
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
