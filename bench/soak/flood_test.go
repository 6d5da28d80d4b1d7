package soak_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

// A flood of clients that ask once and never return finds a store in this process that stays within its bound,
// in keys and in bytes, and frees nobody who is blocked. WEIR_SOAK=1 makes it ten million clients.
func TestSoakFlood(t *testing.T) {
	s := readSettings(t)
	clients, room, blocked := int64(40_000), 8_000, 1_000
	subjects := []weir.Algorithm{algorithms.GCRA(nil)}
	if s.long {
		clients, room, blocked = 10_000_000, 100_000, 20_000
		subjects = append(subjects, algorithms.SlidingCounter(), algorithms.PackedLog(nil))
	}
	for _, a := range subjects {
		t.Run(a.Name(), func(t *testing.T) { flood(t, a, clients, room, blocked, s.long) })
	}
}

func flood(t *testing.T, a weir.Algorithm, clients int64, room, blocked int, long bool) {
	now := time.UnixMicro(1_700_000_000_000_000) // time stands still: nobody expires
	empty := heap()
	st := memory.New(&memory.Options{MaxKeys: room, Clock: func() time.Time { return now }})
	defer func() { require.NoError(t, st.Close()) }()
	l, err := weir.New(a, weir.Limit{Count: 2, Window: time.Hour}, st, nil)
	require.NoError(t, err)
	ctx := context.Background()
	for i := range blocked {
		d, err := l.Take(ctx, "blocked"+strconv.Itoa(i), 2)
		require.NoError(t, err)
		require.True(t, d.Allowed)
	}
	for i := range room - blocked {
		_, err := l.Take(ctx, "first"+strconv.Itoa(i), 1)
		require.NoError(t, err)
	}
	full := heap() - empty

	var next, done, most atomic.Int64
	stop := make(chan struct{})
	if long {
		go report(t.Name(), &done, clients, stop)
	}
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for range workers {
		group.Go(func() {
			for i := next.Add(1); i <= clients; i = next.Add(1) {
				if d, err := l.Take(ctx, "flood"+strconv.FormatInt(i, 10), 1); err != nil || !d.Allowed {
					t.Errorf("client %d: %+v, %v", i, d, err)
					return
				}
				if done.Add(1)%1000 == 0 {
					most.Store(max(most.Load(), int64(st.Keys())))
				}
				if i%997 == 0 { // meanwhile a blocked one tries again
					if d, err := l.Take(ctx, "blocked"+strconv.FormatInt(i%int64(blocked), 10), 1); err != nil || d.Allowed {
						t.Errorf("blocked client %d: %+v, %v", i%int64(blocked), d, err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	close(stop)
	require.EqualValues(t, clients, done.Load())
	require.LessOrEqual(t, most.Load(), int64(room+workers), "those about to be let in are counted")
	require.LessOrEqual(t, st.Keys(), room)
	for i := range blocked {
		d, err := l.Take(ctx, "blocked"+strconv.Itoa(i), 1)
		require.NoError(t, err)
		require.False(t, d.Allowed, "blocked client %d", i)
	}
	after := heap() - empty
	require.Less(t, after, full*3/2+1<<18, "bytes of the heap, of which %d when it was full for the first time", full)
	fmt.Fprintf(os.Stderr, "soak: %s: %d clients in room for %d: %d bytes when full, %d after the flood, %d blocked stayed blocked\n",
		t.Name(), clients, room, full, after, blocked)
	runtime.KeepAlive(l)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
