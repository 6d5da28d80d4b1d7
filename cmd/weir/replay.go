package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/bench/report"
	"github.com/weirlimits/weir/bench/trace"
)

const replayHelp = `Replay decides recorded traffic in simulated time, every decision through the store: which clients
would have been denied, how often, for how long, and at what hours (UTC). A client is locked out from a
denied request until that request would have been admitted, as Retry-After told.

--what-if 5/1m,10/1m,20/1m tells the same traffic's fate under other limits: the share of clients and of
requests denied, the most admitted in a window, and what was denied falsely. --find-limit deny=0.1% finds
the smallest limit over the window of --limit (of each layer alone, where it has several) that denies no
more than 0.1% of clients; requests=0.1% is of requests. It is printed beside the limit one below, which
denies more. Both decide in this process, by the algorithm's own step, as every store that runs it does.

--decisions prints every decision instead, one JSON object a line: algorithm, store, time, key,
cost, allowed, limit, remaining, retry_after, reset_after. Times are in seconds; a retry_after of
-1 is never. --anonymize hashes clients in all that is printed and kept.`

const replayExamples = `  weir replay --trace access.log.gz --limit 60/min --store memory: -o page.html
  weir replay --trace access.log.gz --limit 60/min --find-limit deny=0.1% --what-if 20/1m,60/1m,100/1m
  weir replay --trace - --key user --match 'POST /login' --limit 5/15m --algorithm fixed-window <access.log
  weir replay --trace events.csv --decisions --store memory: --algorithm gcra | grep '"allowed":false'`

// replayCommand is weir replay and its flags.
type replayCommand struct {
	*common
	traffic   traffic
	questions questions
	decisions bool
}

func newReplayCommand(c *common) *cobra.Command {
	v := &replayCommand{common: c}
	cmd := &cobra.Command{
		Use:     "replay --trace FILE",
		Short:   "Decide recorded traffic: who would have been denied, how often",
		Long:    replayHelp,
		Example: replayExamples,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	c.register(cmd, flagStore|flagAlgorithm|flagLimit|flagFormat|flagOutput|flagFailIf, resultFormats(), report.ReplayMetrics())
	v.traffic.register(cmd)
	v.questions.register(cmd)
	cmd.Flags().BoolVar(&v.decisions, "decisions", false, "print every decision, one JSON object a line")
	return cmd
}

func (v *replayCommand) run(cmd *cobra.Command) error {
	if err := v.parse(); err != nil {
		return err
	}
	if err := v.questions.parse(); err != nil {
		return err
	}
	if v.traffic.path == "" {
		return &weir.FieldError{Field: "--trace", Value: "not given", Want: "a FILE, or - for standard input"}
	}
	if v.decisions && cmd.Flags().Changed("format") {
		return &weir.FieldError{Field: "--format", Value: strconv.Quote(v.format), Want: "none with --decisions, which prints NDJSON"}
	}
	if v.decisions && len(v.outputs) == 0 && !v.questions.none() {
		return &weir.FieldError{Field: "--decisions", Value: "given with --find-limit or --what-if", Want: "-o FILE for their answers"}
	}
	tr, err := v.traffic.open(v.common)
	if err != nil {
		return err
	}
	warnCoarse(v.common, tr, v.limit)
	return v.withBackends(cmd.Context(), nil, func(b backends) error {
		return v.replay(cmd, b, tr)
	})
}

func (v *replayCommand) replay(cmd *cobra.Command, b backends, tr *trace.Trace) error {
	ctx := cmd.Context()
	about, err := v.declared(cmd, b)
	if err != nil {
		return err
	}
	config := bench.ReplayConfig{Algorithms: v.algorithms, Backends: b, Limit: v.limit, Events: tr.Events}
	out := bufio.NewWriterSize(v.stdout, 1<<16)
	if v.decisions {
		var line []byte
		config.Decision = func(d bench.Decided) error {
			line = appendDecision(line[:0], d)
			if _, err := out.Write(line); err != nil {
				return failed(fmt.Errorf("weir: standard output: %w", err))
			}
			return nil
		}
	}
	progress := v.newReporter()
	res, err := bench.Replay(ctx, config, progress.step)
	if err == nil && ctx.Err() == nil && !v.questions.none() {
		if v.questions.ask(ctx, v.common, insight.NewTraffic(tr.Events), res, progress.step) != nil { // an interrupt: told below
			res.Found, res.WhatIf = nil, nil
		}
	}
	progress.stop()
	if err != nil {
		return err
	}
	rep := &report.Replay{Results: res, Trace: traceInfo(tr), Limit: about.Limit, Environment: about.Environment}
	if err := v.show(rep, out); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case res.Incomplete != "":
		return incomplete(rep.AsResults())
	}
	return v.checkFailIf(rep.Figures())
}

// show writes the files that were asked for and, unless every decision was printed, prints the summary.
func (v *replayCommand) show(rep *report.Replay, out *bufio.Writer) error {
	var err error
	if !v.decisions {
		err = rep.Render(out, v.format, v.textOptions())
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		err = failed(fmt.Errorf("weir: standard output: %w", err))
	}
	return errors.Join(err, v.writeOutputs(func(b *bytes.Buffer, format string) error {
		return rep.Render(b, format, nil)
	}))
}
