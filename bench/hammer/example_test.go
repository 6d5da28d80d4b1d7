package hammer_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/hammer"
	"github.com/weirlimits/weir/internal/backend"
)

// The program that hammers is also its own worker process.
func Example() {
	ctx := context.Background()
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := hammer.Work(ctx, os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	b, err := backend.Open(ctx, "redis:private", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	report, err := hammer.Run(ctx, hammer.Config{
		Stores:     []hammer.Store{{Backend: b, URL: "redis:private"}},
		Algorithms: algorithms.Runnable(b.Store),
		Limit:      weir.Limit{Count: 10, Window: time.Hour},
		Processes:  4, Workers: 5, Requests: 3000, Runs: 20,
		Command: func() *exec.Cmd { return exec.Command(os.Args[0], "worker") },
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range report.Results {
		fmt.Println(r.Algorithm, &r)
	}
}
