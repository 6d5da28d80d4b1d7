package racy_test

import (
	"fmt"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/racy"
)

func ExampleAll() {
	for _, a := range racy.All() {
		shape, err := a.Shape(weir.Limit{Count: 10, Window: time.Second})
		if err != nil {
			fmt.Println(err)
			return
		}
		plan := shape.Plans[0]
		fmt.Printf("%s: %s (%s), needs %s\n", a, plan.Name, plan.Exactness(), plan.Needs)
	}
	// Output:
	// sliding-log-racy: sorted set, command by command (racy), needs sorted set
	// ring-log-racy: list, command by command (racy), needs list
	// memory-naive: map in this process (racy), needs nothing
}
