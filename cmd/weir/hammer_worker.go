package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir/bench/hammer"
)

const hammerWorkerName = "worker"

// newHammerWorkerCommand is what weir hammer runs in each of its processes.
func newHammerWorkerCommand(c *common) *cobra.Command {
	return &cobra.Command{
		Use:    hammerWorkerName,
		Short:  "A process of weir hammer, which takes its orders from standard input",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// An interrupt typed at a terminal reaches every process. The parent ends its
			// own in order, by ending their input.
			return hammer.Work(context.WithoutCancel(cmd.Context()), c.stdin, c.stdout)
		},
	}
}

// hammerProcess returns what makes a process that is this program, as a worker.
func hammerProcess() (func() *exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("weir: hammer: finding this program, to run it again: %w", err)
	}
	return func() *exec.Cmd {
		cmd := exec.Command(path, "hammer", hammerWorkerName)
		cmd.Args[0] = "weir"
		return cmd
	}, nil
}
