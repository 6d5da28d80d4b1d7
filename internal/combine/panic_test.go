package combine_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/combine"
)

// A store of the user's own may panic. Each of those served together meets that on their own
// goroutine, where a server recovers it, and those behind them are served.
func TestAPanicIsEachCallers(t *testing.T) {
	for name, fails := range map[string]func(){
		"panic":  func() { panic("a bug in a store") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			enter, leave := make(chan struct{}), make(chan struct{})
			lines := combine.New(2, func(_ context.Context, _ string, asks []*ask) {
				enter <- struct{}{}
				<-leave
				if len(asks) == 2 {
					fails()
				}
				asks[0].n = 1
			})
			do := func() <-chan any {
				out := make(chan any, 1)
				go func() {
					defer func() { out <- recover() }()
					a := &ask{}
					_ = lines.Do(context.Background(), "k", a)
					if a.n == 0 {
						panic("not served")
					}
				}()
				return out
			}
			outs := []<-chan any{do()}
			<-enter
			for i := range 3 {
				outs = append(outs, do())
				require.Eventually(t, func() bool { return lines.Waiting("k") == i+1 }, waitLong, tick)
			}
			for i := range 3 {
				leave <- struct{}{}
				if i < 2 {
					<-enter
				}
			}
			require.Nil(t, <-outs[0])
			for _, out := range outs[1:3] {
				if name == "panic" {
					require.ErrorContains(t, (<-out).(error), "a bug in a store")
				} else {
					require.Equal(t, "not served", <-out)
				}
			}
			require.Nil(t, <-outs[3])
			require.Eventually(t, func() bool { return lines.Busy() == 0 }, waitLong, tick)
		})
	}
}

func TestWhoHasLeftBeforehandIsNotServed(t *testing.T) {
	lines := combine.New(2, func(context.Context, string, []*ask) { t.Error("served") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, lines.Do(ctx, "k", &ask{}), context.Canceled)
	require.Zero(t, lines.Busy())
}
