package weir_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

// Ten requests a second for each client, decided in this process.
func Example() {
	st := memory.New(nil) // or redis.New(client, nil), or memcache.Open(servers, nil)
	limiter, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 10, Window: time.Second}, st, nil)
	if err != nil {
		log.Fatal(err) // names what the store lacks, or the field that is wrong
	}
	d, err := limiter.Take(context.Background(), "203.0.113.9", 1)
	switch {
	case err != nil:
		log.Print(err) // the store could not answer
	case d.Allowed:
		fmt.Println("admitted; left now:", d.Remaining)
	default:
		fmt.Println("denied; try again in", d.RetryAfter)
	}
	// Output: admitted; left now: 9
}
