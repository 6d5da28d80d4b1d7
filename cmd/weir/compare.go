package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
	"github.com/weirlimits/weir/internal/backend"
)

const compareHelp = `Compare measures all that can run: precision in simulated time against an exact oracle, memory
per key as the server counts it, what a decision costs the server, throughput and latency of a closed
loop. --growth also shows how the cost grows: with the events of a key up to 100,000, the keys of a store
in this process up to 1,000,000, the callers up to 512, and the rate of an open loop; and how long others wait
while 100,000 expired events of one key are trimmed. With all stores that takes some minutes.

A run writes its numbers once (-o run.json); weir report renders them in any form. Embedded stand-ins
show what an algorithm decides; their speed and bytes would mean nothing and read "n/a (stand-in)".
While a run goes on, -o run.json holds what is measured already, and says so.`

const compareExamples = `  weir compare --quick
  weir compare --store redis://localhost:6379/0 --algorithm gcra --algorithm sliding-log -o run.json -o run.html
  weir compare --trace access.log.gz --match 'POST /login' --limit 5/min --clients 1000000
  weir compare --growth -o growth.json -o growth.html
  weir compare --fail-if 'max_in_window>20'`

// compareCommand is weir compare and its flags.
type compareCommand struct {
	*common
	traffic traffic
	clients int64
	quick   bool
	growth  bool
}

func newCompareCommand(c *common) *cobra.Command {
	v := &compareCommand{common: c}
	cmd := &cobra.Command{
		Use:     "compare",
		Short:   "Measure precision, memory and throughput of all that can run",
		Long:    compareHelp,
		Example: compareExamples,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	c.register(cmd, flagStore|flagAlgorithm|flagLimit|flagSeed|flagFormat|flagOutput|flagFailIf, resultFormats(), report.Metrics())
	v.traffic.register(cmd)
	cmd.Flags().Int64Var(&v.clients, "clients", 0, "also total the memory of `N` clients")
	cmd.Flags().BoolVar(&v.quick, "quick", false, "measure less: up to 100 events per key, short repetitions")
	cmd.Flags().BoolVar(&v.growth, "growth", false, "also measure how cost grows with events, keys and callers, and stalls; takes minutes")
	return cmd
}

func (v *compareCommand) run(cmd *cobra.Command) error {
	if err := v.parse(); err != nil {
		return err
	}
	if v.clients < 0 || v.clients == 0 && cmd.Flags().Changed("clients") {
		return &weir.FieldError{Field: "--clients", Value: strconv.FormatInt(v.clients, 10), Want: "1 or more"}
	}
	config := bench.Config{Algorithms: v.algorithms, Limit: v.limit, Seed: v.seed, Clients: v.clients}
	if v.quick {
		config.Events, config.Keys, config.Interval = []int64{1, 10, 100}, 2500, 40*time.Millisecond
	}
	if v.traffic.path != "" {
		tr, err := v.traffic.open(v.common)
		if err != nil {
			return err
		}
		warnCoarse(v.common, tr, v.limit)
		config.Trace = tr
	} else if f := v.traffic.idle(cmd); f != "" {
		return &weir.FieldError{Field: "--" + f, Value: "given without --trace", Want: "--trace FILE with it"}
	}
	levels := bench.DefaultCallers()
	if v.growth {
		config.Growth = &bench.GrowthConfig{}
		levels = append(levels, bench.DefaultGrowthCallers()...)
	}
	config.Checkpoint = v.keeper()
	callers := slices.Max(levels)
	return v.withBackends(cmd.Context(), &backend.Options{Callers: callers}, func(b backends) error {
		config.Backends, config.Flags = b, v.again(cmd, b)
		return v.compare(cmd.Context(), config)
	})
}

// compare measures and prints. What was measured before an interrupt or a failure is printed too.
func (v *compareCommand) compare(ctx context.Context, config bench.Config) error {
	progress := v.newReporter()
	res, err := bench.Compare(ctx, config, progress.step)
	progress.stop()
	if err != nil {
		return err
	}
	if err := v.emit(res); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if res.Incomplete != "" {
		return incomplete(res)
	}
	return v.checkFailIf(report.Figures(res))
}

// incomplete is the error of a run that ended early: a backend stopped answering, or the run had to
// leave a server alone.
func incomplete(res *bench.Results) error {
	err := fmt.Errorf("weir: incomplete: %s", res.Incomplete)
	if slices.ContainsFunc(res.Results, func(r bench.Result) bool { return r.Error != "" }) {
		return unreachable(err)
	}
	return failed(err)
}
