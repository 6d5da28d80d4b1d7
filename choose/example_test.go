package choose_test

import (
	"fmt"
	"log"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/choose"
)

func Example() {
	redis, err := choose.Named("redis") // or the Traits of a store that is open
	if err != nil {
		log.Fatal(err)
	}
	answer, err := choose.For(redis, choose.Want{
		Limits:  []weir.Limit{{Count: 10_000, Window: time.Second}},
		Clients: 1_000_000,
		Memory:  2e9,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("take", answer.Best.Algorithm)
	for _, c := range answer.Refused {
		if c.Algorithm.Name() == "sliding-log" {
			fmt.Println("not", c.Algorithm, "which takes", c.Refused)
		}
	}
	// Output:
	// take packed-log,tick=1us,error=1%
	// not sliding-log which takes 1.4 TB of 2 GB
}
