package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

const reportHelp = `Report renders the results that weir compare -o run.json kept. Of two files it shows what changed
from the first to the second, figure by figure; "~" marks changes within the spread. - is standard
input.`

func newReportCommand(c *common) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "report FILE [NEWER]",
		Short:   "Render a results file; of two, show what changed",
		Long:    reportHelp,
		Example: "  weir report run.json -o run.html\n  weir report --format md before.json after.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) == 2 {
				return nil
			}
			return &weir.FieldError{Field: "FILE", Value: strconv.Itoa(len(args)) + " given", Want: "one results file, or two to compare"}
		},
	}
	c.register(cmd, flagFormat|flagOutput, append(resultFormats(), formatHTML), nil)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := c.parse(); err != nil {
			return err
		}
		var all []*bench.Results
		for _, name := range args {
			res, err := c.readResults(name)
			if err != nil {
				return err
			}
			all = append(all, res)
		}
		if len(all) == 1 {
			return c.emit(all[0])
		}
		return c.emitDifference(report.Compare(all[0], all[1], args[0], args[1]))
	}
	return cmd
}

func (c *common) readResults(name string) (*bench.Results, error) {
	from := c.stdin
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("weir: results: %w", err)
		}
		defer f.Close()
		from = f
	}
	res, err := bench.ReadResults(from, name)
	if err == nil && len(res.Results) == 0 {
		err = &weir.FieldError{Field: "results " + name, Value: "none in it", Want: "a file that weir compare -o run.json wrote"}
	}
	return res, err
}

func (c *common) emitDifference(d *report.Difference) error {
	return errors.Join(
		c.print(func(b *bytes.Buffer) error { return d.Render(b, c.format) }),
		c.writeOutputs(func(b *bytes.Buffer, format string) error { return d.Render(b, format) }),
	)
}
