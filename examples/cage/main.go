// Command cage shows the burst cage: 100 requests a minute, of which no more than 5 in any one
// second. It runs a minute of an impatient client's requests in simulated time.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run asks eight times in each second of a minute.
func run(ctx context.Context, out io.Writer) error {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	st := memory.New(&memory.Options{Clock: func() time.Time { return now }})
	defer st.Close()
	limits, err := weir.ParseLimits("100/1m+5/1s")
	if err != nil {
		return err
	}
	log := algorithms.PackedLog(nil)
	caged := weir.Layered(log, weir.Layer{Algorithm: log, Limit: limits[1]})
	limiter, err := weir.New(caged, limits[0], st, nil)
	if err != nil {
		return err
	}
	for second := range 60 {
		admitted := 0
		var last weir.Decision
		for range 8 {
			last, err = limiter.Take(ctx, "client", 1)
			if err != nil {
				return err
			}
			if last.Allowed {
				admitted++
			}
		}
		if second < 2 || second == 19 || second == 20 {
			fmt.Fprintf(out, "second %2d: %d of 8, then wait %v\n", second, admitted, last.RetryAfter)
		}
		now = now.Add(time.Second)
	}
	return nil
}
