package bench_test

import (
	"context"
	"fmt"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
)

// Five logins a minute: ten requests around the full minute, on two algorithms.
func ExampleReplay() {
	ctx := context.Background()
	memory, err := backend.Open(ctx, "memory:", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()

	var events []trace.Event
	minute := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 10 {
		at := minute.Add(time.Duration(i-5) * time.Second)
		events = append(events, trace.Event{Time: at.UnixMicro(), Key: "203.0.113.9", Cost: 1})
	}
	r, err := bench.Replay(ctx, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithms.FixedWindow(), algorithms.SlidingLog()},
		Backends:   []*backend.Backend{memory},
		Limit:      weir.Limit{Count: 5, Window: time.Minute},
		Events:     events,
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, res := range r.Results {
		fmt.Printf("%s: %d of %d admitted, at most %d in a minute\n", res.Algorithm, res.Allowed, res.Events, res.MaxInWindow)
	}
	// Output:
	// fixed-window: 10 of 10 admitted, at most 10 in a minute
	// sliding-log: 5 of 10 admitted, at most 5 in a minute
}
