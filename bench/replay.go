package bench

import (
	"cmp"
	"context"
	"fmt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
)

// ReplayConfig says what [Replay] decides. Algorithms, Backends, Limit and Events are required.
type ReplayConfig struct {
	Algorithms []weir.Algorithm
	Backends   []*backend.Backend
	Limit      weir.Limit
	Events     []trace.Event // in order of time
	Top        int           // how many of the clients denied most are named; 0: ten; below 0: none

	// Decision, if not nil, is given every decision, one pair after the other, each in the order of
	// the events. Its error ends the replay, and Replay returns it.
	Decision func(Decided) error
}

// Decided is one decision of a replay.
type Decided struct {
	Algorithm, Store string // as in the results
	Event            trace.Event
	Decision         weir.Decision
}

// ReplayResults are the summaries of a replay, one for each pair, and what was asked of the events beside it.
type ReplayResults struct {
	Results []ReplayResult    `json:"results"`
	Span    insight.Span      `json:"span"`
	Found   []insight.Found   `json:"find_limit,omitempty"` // decided in process; Replay leaves it empty
	WhatIf  []insight.Outcome `json:"what_if,omitempty"`    // likewise
	// Incomplete says why and where a replay ended early; empty for a whole one.
	Incomplete string `json:"incomplete,omitempty"`
}

// ReplayResult is what one algorithm on one store made of the events. Precision is nil where the
// pair could not run or failed, Denials also where there are no figures.
type ReplayResult struct {
	Algorithm   string   `json:"algorithm"` // options included
	Store       string   `json:"store"`
	Limit       string   `json:"limit"`
	Unsupported []string `json:"unsupported,omitempty"` // as in [Result]
	*Precision
	Denials    *insight.Denials `json:"denials,omitempty"`
	MostDenied []insight.Client `json:"most_denied,omitempty"`
	Error      string           `json:"error,omitempty"` // what ended the replay of this pair
}

// Replay decides recorded events in simulated time: every algorithm on every backend, every decision
// through the store. Requests of different keys are decided at once, those of one key in their
// order, each at its own time.
//
// An error is about the configuration, or comes from the callback. Where a pair fails or ctx ends,
// the results say so, as those of [Compare] do.
func Replay(ctx context.Context, config ReplayConfig, progress Progress) (*ReplayResults, error) {
	if err := checkPairs(config.Algorithms, config.Backends, config.Limit); err != nil {
		return nil, err
	}
	if err := checkEvents(config.Events); err != nil {
		return nil, err
	}
	if config.Top == 0 {
		config.Top = 10
	}
	var refused error // by the callback
	if use := config.Decision; use != nil {
		config.Decision = func(d Decided) error {
			refused = use(d)
			return refused
		}
	}
	res := &ReplayResults{Span: insight.NewSpan(config.Events)}
	all := pairs(config.Algorithms, config.Backends, config.Limit)
	for i, p := range all {
		if progress != nil {
			progress(p.String(), i, len(all))
		}
		one := ReplayResult{Algorithm: p.algorithm.String(), Store: p.backend.Name, Limit: p.limit.String()}
		err := replayPair(ctx, p, config, res.Span, &one)
		switch {
		case refused != nil:
			return res, refused
		case ctx.Err() != nil:
			res.Incomplete = fmt.Sprintf("%v during %s", context.Cause(ctx), p)
			return res, nil
		case err != nil:
			one.Error = err.Error()
			res.Incomplete = cmp.Or(res.Incomplete, fmt.Sprintf("%s: %v", p, err))
		}
		res.Results = append(res.Results, one)
	}
	return res, nil
}

func checkEvents(events []trace.Event) error {
	if len(events) == 0 {
		return fmt.Errorf("bench: Events: none: want at least one")
	}
	for i, e := range events {
		switch {
		case i > 0 && e.Time < events[i-1].Time:
			return fieldError(fmt.Sprintf("Events[%d].Time", i), e.Time, "events in order of time")
		case e.Cost < 0:
			return fieldError(fmt.Sprintf("Events[%d].Cost", i), e.Cost, "0 or more")
		}
	}
	return nil
}

// replayPair decides all events on one pair and fills in its result.
func replayPair(ctx context.Context, p pair, config ReplayConfig, span insight.Span, one *ReplayResult) error {
	var err error
	if one.Unsupported, err = p.unsupported(); err != nil || one.Unsupported != nil {
		return err
	}
	if err := p.backend.GuardMemory(ctx); err != nil {
		return err
	}
	judge := oracle.NewJudge(p.limit.Count, p.limit.Window.Microseconds())
	ledger := insight.NewLedger(span)
	n, err := decide(ctx, p, config.Events, func(e trace.Event, d weir.Decision) error {
		judge.Observe(e.Key, observation(e, d))
		ledger.Observe(e, d)
		if config.Decision == nil {
			return nil
		}
		return config.Decision(Decided{Algorithm: one.Algorithm, Store: one.Store, Event: e, Decision: d})
	})
	precision, err := newPrecision(judge.Report(), p.limit, n, err)
	if err != nil {
		return err
	}
	one.Precision = &precision
	if precision.NA == "" {
		denials := ledger.Denials()
		one.Denials, one.MostDenied = &denials, ledger.MostDenied(config.Top)
	}
	return nil
}
