// Weir compares rate-limit algorithms on the backends that you have.
//
// The program's manual is its help: weir help, and weir help VERB. The numbers go to
// standard output, progress and errors to standard error.
//
// It exits with 0 when done, 1 when a check or a threshold failed, 2 on wrong usage, 3
// when a backend could not be reached, and 130 when it was interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	goredis "github.com/redis/go-redis/v9"
)

func main() {
	goredis.SetLogger(silence{})   // what it would log comes back as an error too
	signal.Ignore(syscall.SIGPIPE) // a reader that leaves must not keep us from cleaning up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// silence drops what the Redis client logs on its own to standard error.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}
