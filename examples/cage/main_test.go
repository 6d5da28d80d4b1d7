package main

import (
	"context"
	"log"
	"os"
)

func Example() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// second  0: 5 of 8, then wait 1s
	// second  1: 5 of 8, then wait 1s
	// second 19: 5 of 8, then wait 41s
	// second 20: 0 of 8, then wait 40s
}
