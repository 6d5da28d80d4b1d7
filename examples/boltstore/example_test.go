package boltstore_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/examples/boltstore"
)

// A limit that a restart does not lift.
func Example() {
	dir, err := os.MkdirTemp("", "boltstore")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 2 { // the process, and the one after the restart
		st, err := boltstore.Open(filepath.Join(dir, "limits.db"), nil)
		if err != nil {
			log.Fatal(err)
		}
		limiter, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 3, Window: time.Hour}, st, nil)
		if err != nil {
			log.Fatal(err)
		}
		for range 2 {
			d, err := limiter.Take(context.Background(), "203.0.113.9", 1)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("allowed:", d.Allowed, "left:", d.Remaining)
		}
		if err := st.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// allowed: true left: 2
	// allowed: true left: 1
	// allowed: true left: 0
	// allowed: false left: 0
}
