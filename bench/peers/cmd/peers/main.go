// Command peers measures other Go rate limiters and ours side by side, on servers of its own.
//
//	peers [-quick] [-o results.json]
//
// Tables go to standard output, progress to standard error. An interrupt ends the measuring; what was
// measured until then is written. Exit codes: 0 done; 1 incomplete; 2 wrong usage; 3 a server is missing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weirlimits/weir/bench/peers/versus"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, log io.Writer) int {
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(log)
	quick := flags.Bool("quick", false, "a run of seconds, whose figures mean little")
	file := flags.String("o", "", "write the results to this file, as JSON")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(log, "peers: argument %q: want none\n", flags.Arg(0))
		return 2
	}
	settings := versus.Full()
	if *quick {
		settings = versus.Quick()
	}
	results, err := versus.Run(ctx, settings, progress(log))
	if err != nil {
		fmt.Fprintln(log, "peers:", err)
		return 3
	}
	results.Environment.Flags = args
	if *file != "" {
		err = write(results, *file)
	}
	if err := errors.Join(err, results.WriteText(out)); err != nil {
		fmt.Fprintln(log, "peers:", err)
		return 1
	}
	if results.Incomplete != "" {
		return 1
	}
	return 0
}

// write replaces the file whole, or leaves it as it is.
func write(results *versus.Results, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".peers-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(results.WriteJSON(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// progress prints a line now and then.
func progress(log io.Writer) versus.Progress {
	var last time.Time
	return func(what string) {
		if time.Since(last) >= 5*time.Second {
			last = time.Now()
			fmt.Fprintln(log, strings.TrimSpace(what))
		}
	}
}
