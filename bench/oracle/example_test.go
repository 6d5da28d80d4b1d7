package oracle_test

import (
	"fmt"

	"github.com/weirlimits/weir/bench/oracle"
)

// A fixed window lets twice its limit through around the boundary of two windows.
func ExampleJudge() {
	const second = 1_000_000
	limiter := oracle.NewFixedWindow(10, second)
	judge := oracle.NewJudge(10, second)
	for _, t := range []int64{990_000, 1_010_000} {
		for range 10 {
			v := limiter.Take(t, 1)
			judge.Observe("client", oracle.Observation{Time: t, Cost: 1, Allowed: v.Allowed, RetryAfter: v.RetryAfter})
		}
	}
	r := judge.Report()
	fmt.Printf("%d of 10 in one second; the exact log admits %d of %d\n", r.MaxInWindow, r.ExactAdmitted, r.Events)
	// Output: 20 of 10 in one second; the exact log admits 10 of 20
}

func ExampleModel() {
	m := oracle.NewGCRA(7, 1_000_000, 1)
	fmt.Println(m.Take(0, 1))
	fmt.Println(m.Take(0, 1))
	// Output:
	// {true 0 0 142858}
	// {false 0 142858 142858}
}
