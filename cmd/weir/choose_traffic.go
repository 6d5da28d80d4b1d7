package main

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/choose"
	"github.com/weirlimits/weir/internal/backend"
)

type event = trace.Event

// events returns the traffic that was given, if any, and what it says of how much clients use.
func (v *chooseCommand) events(cmd *cobra.Command) ([]event, error) {
	window := v.want.Limits[0].Window
	given := 0
	for _, flag := range []string{v.traffic.path, v.scenario, v.rate} {
		if flag != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, &weir.FieldError{Field: "--trace", Value: "with --traffic or --rate", Want: "one of the three"}
	case v.traffic.path != "":
		tr, err := v.traffic.open(v.common)
		if err != nil {
			return nil, err
		}
		warnCoarse(v.common, tr, v.limit)
		v.want.Held = busiest(tr.Events, window.Microseconds())
		return tr.Events, nil
	case v.traffic.idle(cmd) != "":
		return nil, &weir.FieldError{
			Field: "--" + v.traffic.idle(cmd), Value: "given without --trace", Want: "--trace FILE with it",
		}
	case v.scenario != "":
		all := bench.Scenarios(v.limit, v.seed)
		i := slices.IndexFunc(all, func(s bench.Scenario) bool { return s.Name == v.scenario })
		if i < 0 {
			return nil, &weir.FieldError{Field: "--traffic", Value: strconv.Quote(v.scenario), Want: either(shapes())}
		}
		v.want.Held = busiest(all[i].Events, window.Microseconds())
		return all[i].Events, nil
	case v.rate != "":
		rate, err := weir.ParseLimit(v.rate)
		if err != nil {
			return nil, &weir.FieldError{Field: "--rate", Value: strconv.Quote(v.rate), Want: `COUNT/WINDOW, such as "3/1m"`}
		}
		v.want.Held = []int64{int64(float64(rate.Count) * float64(window) / float64(rate.Window))}
	}
	return nil, nil
}

// busiest returns for each key the most that any window sees it ask for.
func busiest(events []event, window int64) []int64 {
	type client struct {
		recent []event // of the last window
		sum    int64
		most   int64
	}
	clients := map[string]*client{}
	for _, e := range events {
		c := clients[e.Key]
		if c == nil {
			c = &client{}
			clients[e.Key] = c
		}
		for len(c.recent) > 0 && c.recent[0].Time <= e.Time-window {
			c.sum -= c.recent[0].Cost
			c.recent = c.recent[1:]
		}
		c.recent = append(c.recent, e)
		c.sum += e.Cost
		c.most = max(c.most, c.sum)
	}
	var all []int64
	for _, c := range clients {
		all = append(all, c.most)
	}
	return all
}

// look decides the traffic in this process and in simulated time, where every algorithm runs and decides as anywhere.
func (v *chooseCommand) look(ctx context.Context, a *choose.Answer, events []event) error {
	b, err := backend.Open(ctx, "memory:", nil)
	if err != nil {
		return err
	}
	defer b.Close()
	config := bench.ReplayConfig{Backends: backends{b}, Limit: v.limit, Events: events, Top: -1}
	for _, c := range slices.Concat(a.Ranked, a.Refused) {
		if c.Plan.Name != "" {
			config.Algorithms = append(config.Algorithms, c.Algorithm)
		}
	}
	v.want.Seen = map[string]choose.Errors{}
	if len(config.Algorithms) == 0 {
		return nil
	}
	progress := v.newReporter()
	res, err := bench.Replay(ctx, config, progress.step)
	progress.stop()
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	for _, r := range res.Results {
		if p := r.Precision; p != nil && p.NA == "" && p.Events > 0 {
			n := float64(p.Events)
			v.want.Seen[r.Algorithm] = choose.Errors{
				Over: float64(p.OverAdmitted) / n, Denied: float64(p.FalseDenied) / n, Admitted: p.AdmittedRatio,
			}
		}
	}
	return nil
}
