package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirlimits/weir"
)

const rootHelp = `Weir compares rate-limit algorithms on the backends that you have.

Stores are URLs. redis:private and memcache:private start a server of their own on a free
loopback port if redis-server or memcached is on PATH, and an embedded stand-in if not.

The numbers go to standard output; progress and errors go to standard error, each error one line.
Exit codes: 0 done, 1 a check or a threshold failed, 2 wrong usage, 3 a backend could not be
reached, 130 interrupted.`

// run is the program: it returns the exit code. It ends early, and cleans up, when ctx is done.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCommand(stdin, stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(stderr, oneLine(err))
	}
	return exitCode(err)
}

func newRootCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	shared := func() *common { return &common{stdin: stdin, stdout: stdout, stderr: stderr} }
	root := &cobra.Command{
		Use:           "weir",
		Short:         "Compare rate-limit algorithms on the backends that you have",
		Long:          rootHelp,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownVerb(cmd, args[0])
		},
	}
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetHelpCommand(helpCommand(root))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(cmd, err)
	})
	root.SetVersionTemplate("weir {{.Version}}\n")
	root.AddCommand(
		newChooseCommand(shared()),
		newMatrixCommand(shared()),
		newCompareCommand(shared()),
		newReplayCommand(shared()),
		newHammerCommand(shared()),
		newConformCommand(shared()),
		newReportCommand(shared()),
	)
	return root
}

// flagError says of a flag that cannot be read what would be valid.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var lacks *pflag.ValueRequiredError
	switch {
	case errors.As(err, &invalid):
		want := map[string]string{
			"int": "a whole number", "int64": "a whole number", "uint64": "a whole number, 0 or more", "bool": "true or false",
			"duration": "a duration, such as 5ms", "durationSlice": "durations, such as 0,1ms,5ms",
		}
		kind := invalid.GetFlag().Value.Type()
		return &weir.FieldError{
			Field: "--" + invalid.GetFlag().Name, Value: strconv.Quote(invalid.GetValue()), Want: cmp.Or(want[kind], "a "+kind),
		}
	case errors.As(err, &lacks):
		name, _ := pflag.UnquoteUsage(lacks.GetFlag())
		return &weir.FieldError{Field: "--" + lacks.GetFlag().Name, Value: "no value", Want: name + " after it"}
	default:
		return fmt.Errorf("weir: %w: want flags as in %s --help", err, cmd.CommandPath())
	}
}

func unknownVerb(root *cobra.Command, name string) error {
	var verbs []string
	for _, sub := range root.Commands() {
		if sub.IsAvailableCommand() {
			verbs = append(verbs, sub.Name())
		}
	}
	return &weir.FieldError{Field: "verb", Value: strconv.Quote(name), Want: "one of " + strings.Join(verbs, ", ")}
}

// helpCommand is cobra's, but an unknown verb is an error like any other.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Help about any verb",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownVerb(root, strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// noArgs refuses arguments where a verb takes flags only.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &weir.FieldError{Field: "argument", Value: strconv.Quote(args[0]), Want: "flags only"}
	}
	return nil
}

// version is the module's, as the toolchain stamped it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
