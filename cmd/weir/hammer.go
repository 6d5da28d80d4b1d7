package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/hammer"
	"github.com/weirlimits/weir/bench/racy"
)

const hammerHelp = `Hammer starts processes that all send their requests at one key at once, and counts how many
of them get through.

An atomic limiter lets exactly its limit through. One that looks first and writes later lets more
through, the more the longer a round trip takes: --racy adds such limiters, and --latency a proxy
that delays each direction before the server. A store inside the process cannot keep one limit for
several processes: each counts alone.

All workers begin at once, or, with a latency, one after another over 20ms, as clients do: so it
depends on the latency, and not on the start, how many of them look before the first has written.

A run during which time freed a place, as at a window's boundary, starts again. The exit code is 1
if an atomic limiter let more through than it may, or fewer than it should.

--url asks a running service instead, whatever it is made of, that claims to keep --limit: how many
get through at once and in the worst window, whether what its answers promise is true, whether a
forged header buys a fresh limit, and which algorithms are consistent with all that was seen.
Each client is a loopback address of its own, or with --header 'X-Api-Key: {n}' a value of its own;
where the service does not tell them apart, each test waits for the one before. Nothing but
loopback is asked without --yes: ask only what you may.`

const hammerExamples = `  weir hammer --store redis:private --algorithm gcra
  weir hammer --store redis:private --racy --latency 0,1ms,5ms
  weir hammer --store memcache://cache1:11211,cache2:11211 --runs 20
  weir hammer --url http://127.0.0.1:8080/login --limit 10/1s`

const (
	hammerLimit  = "10/1h"               // its window outlasts a run
	hammerSpread = 20 * time.Millisecond // where there is a latency
)

// hammerCommand is weir hammer and its flags.
type hammerCommand struct {
	*common
	config hammer.Config
	racy   bool
	ask    askFlags
}

func newHammerCommand(c *common) *cobra.Command {
	h := &hammerCommand{common: c}
	cmd := &cobra.Command{
		Use:     "hammer",
		Short:   "Many processes at one key at once: does more than the limit get through?",
		Long:    hammerHelp,
		Example: hammerExamples,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return h.run(cmd) },
	}
	c.register(cmd, flagStore|flagAlgorithm|flagLimit|flagFormat|flagFailIf,
		[]string{formatText, formatJSON, formatCSV, formatMarkdown}, append(hammerMetrics(), askMetrics()...))
	fs := cmd.Flags()
	fs.Lookup("limit").DefValue = hammerLimit
	fs.IntVar(&h.config.Processes, "processes", 4, "`N` processes that send, 1 to 64")
	fs.IntVar(&h.config.Workers, "workers", 5, "`N` workers in each process, 1 to 1024")
	fs.Int64Var(&h.config.Requests, "requests", 3000, "`N` requests in a run, of all processes together")
	fs.IntVar(&h.config.Runs, "runs", 1, "`N` runs of each algorithm")
	fs.DurationSliceVar(&h.config.Latencies, "latency", []time.Duration{0},
		"`LIST` of latencies such as 0,1ms,5ms, added to each direction before the server")
	fs.DurationVar(&h.config.Spread, "spread", 0,
		"`DURATION` over which the workers begin, one after another (default 0s: at once; with a latency "+hammerSpread.String()+")")
	fs.BoolVar(&h.racy, "racy", false, "also hammer limiters that are not atomic, to see them fail")
	h.ask.register(fs)
	cmd.AddCommand(newHammerWorkerCommand(c))
	return cmd
}

func (h *hammerCommand) run(cmd *cobra.Command) error {
	if cmd.Flags().Changed("url") {
		return h.runAsk(cmd)
	}
	if err := h.ask.unused(cmd.Flags()); err != nil {
		return err
	}
	if err := h.configure(cmd); err != nil {
		return err
	}
	var err error
	if h.config.Command, err = hammerProcess(); err != nil {
		return failed(err)
	}
	rep, err := h.hammer(cmd.Context())
	if err != nil {
		return err
	}
	if err := writeHammer(h.stdout, h.format, rep); err != nil {
		return failed(fmt.Errorf("weir: standard output: %w", err))
	}
	return h.verdict(rep)
}

// configure reads and checks the flags.
func (h *hammerCommand) configure(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if !changed("limit") {
		h.given.limit = hammerLimit
	}
	named := h.takeRacy()
	if err := h.parse(); err != nil {
		return err
	}
	if len(named) > 0 && len(h.given.algorithms) == 0 {
		h.algorithms = nil // none but racy ones were asked for
	}
	for _, a := range named {
		if _, err := a.Shape(h.limit); err != nil {
			return err
		}
	}
	h.config.Algorithms = append(h.algorithms, named...)
	for _, a := range racy.All() {
		if h.racy && !slices.Contains(named, a) {
			h.config.Algorithms = append(h.config.Algorithms, a)
		}
	}
	slices.Sort(h.config.Latencies)
	h.config.Latencies = slices.Compact(h.config.Latencies)
	if !changed("spread") && slices.Max(h.config.Latencies) > 0 {
		h.config.Spread = hammerSpread
	}
	h.config.Limit = h.limit
	if err := h.only(hammerMetrics(), "without --url"); err != nil {
		return err
	}
	return h.config.Validate()
}

// takeRacy takes the racy limiters out of --algorithm, whose common part knows none.
func (h *hammerCommand) takeRacy() (named []weir.Algorithm) {
	h.given.algorithms = slices.DeleteFunc(h.given.algorithms, func(name string) bool {
		a, err := racy.Parse(name)
		if err == nil && !slices.Contains(named, a) {
			named = append(named, a)
		}
		return err == nil
	})
	return named
}

func (h *hammerCommand) hammer(ctx context.Context) (rep *hammer.Report, err error) {
	backends, closeAll, err := h.openBackends(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := closeAll(); err == nil && closeErr != nil {
			err = failed(closeErr)
		}
	}()
	for i, b := range backends {
		h.config.Stores = append(h.config.Stores, hammer.Store{Backend: b, URL: h.stores[i]})
	}
	progress := h.newReporter()
	defer progress.stop()
	h.config.Progress = func(done, total int, next hammer.Result) {
		progress.step("hammering "+next.Algorithm+" on "+next.Store, done, total)
	}
	rep, err = hammer.Run(ctx, h.config)
	if err != nil && !errors.Is(err, context.Canceled) {
		err = failed(err)
	}
	return rep, err
}

// verdict is the error of a limiter that broke its word, or of a threshold that was
// crossed; nil if there is none.
func (h *hammerCommand) verdict(rep *hammer.Report) error {
	ran := false
	for _, r := range rep.Results {
		ran = ran || r.Unsupported == ""
		if !r.OK() {
			return failed(fmt.Errorf("weir: hammer: %s on %s: expected %d of %d requests to get through: %s",
				r.Algorithm, r.Store, r.ExpectedMax, rep.Requests, &r))
		}
		if r.Unsupported != "" {
			continue
		}
		for _, t := range h.failIf {
			if v := hammerMetric(r, t.metric); t.holds(float64(v)) {
				return failed(fmt.Errorf("weir: hammer: %s on %s: %s is %d: --fail-if %s holds", r.Algorithm, r.Store, t.metric, v, t))
			}
		}
	}
	if !ran {
		return failed(errors.New("weir: hammer: nothing was checked: want a store on which one of the algorithms can run"))
	}
	return nil
}

// hammerMetrics are what --fail-if can ask for.
func hammerMetrics() []string { return []string{"allowed", "denied", "excess", "errors"} }

// hammerMetric is the most that any run of a result saw.
func hammerMetric(r hammer.Result, metric string) (most int64) {
	switch metric {
	case "allowed":
		_, most = r.Allowed()
	case "denied":
		_, most = r.Denied()
	case "excess":
		_, most = r.Excess()
	default:
		for _, c := range r.Runs {
			most = max(most, c.Errors)
		}
	}
	return most
}
