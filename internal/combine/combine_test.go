package combine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/combine"
)

type ask struct{ n, group, at int }

const waitLong, tick = 10 * time.Second, time.Millisecond

// desk serves asks one group at a time and lets the test hold a group up.
type desk struct {
	lines  *combine.Lines[ask]
	enter  chan context.Context // told of each group
	leave  chan struct{}        // lets it go
	groups int
	sizes  []int
}

func newDesk(most int) *desk {
	d := &desk{enter: make(chan context.Context), leave: make(chan struct{})}
	d.lines = combine.New(most, func(ctx context.Context, _ string, asks []*ask) {
		d.enter <- ctx
		<-d.leave
		d.groups++
		d.sizes = append(d.sizes, len(asks))
		for i, a := range asks {
			a.group, a.at = d.groups, i
		}
	})
	return d
}

// queue starts a caller and returns once it stands in line.
func (d *desk) queue(ctx context.Context, t *testing.T, a *ask, want int) <-chan error {
	out := make(chan error, 1)
	go func() { out <- d.lines.Do(ctx, "k", a) }()
	require.Eventually(t, func() bool { return d.lines.Waiting("k") == want }, waitLong, tick)
	return out
}

func TestThoseWhoWaitAreServedTogetherInOrder(t *testing.T) {
	d := newDesk(3)
	first := make(chan error, 1)
	lone := &ask{}
	type key struct{}
	mine := context.WithValue(t.Context(), key{}, "mine")
	go func() { first <- d.lines.Do(mine, "k", lone) }()
	ctx := <-d.enter
	require.Equal(t, "mine", ctx.Value(key{}), "a lone caller is served under its own context")

	asks, outs := make([]*ask, 5), make([]<-chan error, 5)
	for i := range asks {
		asks[i] = &ask{n: i}
		outs[i] = d.queue(mine, t, asks[i], i+1)
	}
	d.leave <- struct{}{}
	require.NoError(t, <-first, "it does not wait for those behind it")
	ctx = <-d.enter
	require.Nil(t, ctx.Value(key{}))
	require.NoError(t, ctx.Err())
	d.leave <- struct{}{}
	<-d.enter
	d.leave <- struct{}{}
	for _, out := range outs {
		require.NoError(t, <-out)
	}
	require.Equal(t, []int{1, 3, 2}, d.sizes)
	for i, a := range asks {
		require.Equal(t, 2+i/3, a.group)
		require.Equal(t, i%3, a.at)
	}
	require.Eventually(t, func() bool { return d.lines.Busy() == 0 }, waitLong, tick)
}

func TestOneWhoWaitsLeavesTheLine(t *testing.T) {
	d := newDesk(10)
	lone := make(chan error, 1)
	go func() { lone <- d.lines.Do(t.Context(), "k", &ask{}) }()
	<-d.enter
	impatient, cancel := context.WithCancel(t.Context())
	gone := d.queue(impatient, t, &ask{}, 1)
	stays := d.queue(t.Context(), t, &ask{}, 2)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	d.leave <- struct{}{}
	require.NoError(t, <-lone)
	<-d.enter
	d.leave <- struct{}{}
	require.NoError(t, <-stays)
	require.Equal(t, []int{1, 1}, d.sizes, "who left was not asked for")
}

func TestAGroupGoesOnUntilAllHaveLeft(t *testing.T) {
	d := newDesk(10)
	lone := make(chan error, 1)
	go func() { lone <- d.lines.Do(t.Context(), "k", &ask{}) }()
	<-d.enter
	one, leaveOne := context.WithCancel(t.Context())
	two, leaveTwo := context.WithCancel(t.Context())
	first := d.queue(one, t, &ask{}, 1)
	second := d.queue(two, t, &ask{}, 2)
	d.leave <- struct{}{}
	require.NoError(t, <-lone)
	served := <-d.enter
	leaveOne()
	require.ErrorIs(t, <-first, context.Canceled)
	require.NoError(t, served.Err(), "the other still waits")
	leaveTwo()
	require.ErrorIs(t, <-second, context.Canceled)
	<-served.Done()
	d.leave <- struct{}{}
	require.Eventually(t, func() bool { return d.lines.Busy() == 0 }, waitLong, tick)
}

// Many callers of a few keys: each ask is served once, no two groups of a key at a time.
func TestEachAskIsServedOnce(t *testing.T) {
	var mu sync.Mutex
	inside := map[string]bool{}
	lines := combine.New(7, func(_ context.Context, key string, asks []*ask) {
		mu.Lock()
		overlap := inside[key]
		inside[key] = true
		mu.Unlock()
		if overlap {
			t.Errorf("two groups of %s at a time", key)
		}
		for _, a := range asks {
			a.n++
		}
		mu.Lock()
		inside[key] = false
		mu.Unlock()
	})
	var callers sync.WaitGroup
	for i := range 64 {
		callers.Go(func() {
			for j := range 500 {
				a := &ask{}
				if err := lines.Do(t.Context(), string(rune('a'+(i+j)%3)), a); err != nil || a.n != 1 {
					t.Errorf("%v, served %d times", err, a.n)
				}
			}
		})
	}
	callers.Wait()
	require.Eventually(t, func() bool { return lines.Busy() == 0 }, waitLong, tick)
}
