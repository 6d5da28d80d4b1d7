package main

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/internal/layers"
)

// questions are what a replay answers beside its decisions, by deciding the trace again in this process.
type questions struct {
	findLimit []string
	whatIf    string

	goals []insight.Goal
	cases [][]weir.Limit // each with its layers
}

func (q *questions) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&q.findLimit, "find-limit", nil,
		"find the smallest limit, over the window of --limit, that denies no more than `GOAL`, repeatable:\n"+
			"deny=0.1% of clients, or requests=0.1% of requests")
	fs.StringVar(&q.whatIf, "what-if", "", "also tell what other `LIMITS` would deny, such as 5/1m,10/1m,20/1m")
}

func (q *questions) none() bool { return len(q.goals) == 0 && len(q.cases) == 0 }

func (q *questions) parse() error {
	q.goals, q.cases = nil, nil
	for _, s := range q.findLimit {
		goal, err := parseGoal(s)
		if err != nil {
			return err
		}
		if slices.Contains(q.goals, goal) {
			return &weir.FieldError{Field: "--find-limit", Value: strconv.Quote(s) + " twice", Want: "each goal once"}
		}
		q.goals = append(q.goals, goal)
	}
	if q.whatIf == "" {
		return nil
	}
	for s := range strings.SplitSeq(q.whatIf, ",") {
		limits, err := weir.ParseLimits(s)
		var field *weir.FieldError
		switch {
		case errors.As(err, &field):
			return &weir.FieldError{Field: "--what-if " + field.Field, Value: field.Value, Want: field.Want}
		case err != nil:
			return err
		case slices.ContainsFunc(q.cases, func(other []weir.Limit) bool { return slices.Equal(other, limits) }):
			return &weir.FieldError{Field: "--what-if", Value: strconv.Quote(s) + " twice", Want: "each limit once"}
		}
		q.cases = append(q.cases, limits)
	}
	return nil
}

func parseGoal(s string) (insight.Goal, error) {
	wrong := &weir.FieldError{
		Field: "--find-limit", Value: strconv.Quote(s),
		Want: "deny=P% for clients or requests=P% for requests, P from 0 to 100, such as deny=0.1%",
	}
	of, number, _ := strings.Cut(s, "=")
	names := map[string]string{"deny": insight.Clients, "requests": insight.Requests}
	number, percent := strings.CutSuffix(number, "%")
	share, err := strconv.ParseFloat(number, 64)
	goal := insight.Goal{Of: names[of], Most: share / 100}
	if !percent || err != nil || goal.Validate() != nil {
		return goal, wrong
	}
	return goal, nil
}

// ask answers the questions for each algorithm that some store can run, several at once. Its only errors are those of
// ctx.
func (q *questions) ask(ctx context.Context, c *common, traffic *insight.Traffic, res *bench.ReplayResults, progress bench.Progress) error {
	res.Found = make([]insight.Found, 0, len(q.goals)*len(c.limits)*len(c.alone)) // so that no place moves
	res.WhatIf = make([]insight.Outcome, 0, len(q.cases)*len(c.alone))
	var work []func(context.Context) error
	for i, a := range c.alone {
		lacks := lacking(res, c.algorithms[i].String())
		for _, goal := range q.goals {
			for _, l := range c.limits {
				res.Found = append(res.Found, insight.Found{Algorithm: a.String(), WindowUS: l.Window.Microseconds(), Goal: goal, NA: lacks})
				to := &res.Found[len(res.Found)-1]
				if lacks == "" {
					work = append(work, func(ctx context.Context) (err error) {
						*to, err = traffic.Find(ctx, a, l.Window, goal)
						return err
					})
				}
			}
		}
		for _, limits := range q.cases {
			of := layers.Under(a, limits[1:])
			res.WhatIf = append(res.WhatIf, insight.Outcome{Algorithm: a.String(), Limit: layers.Text(limits), NA: lacks})
			to := &res.WhatIf[len(res.WhatIf)-1]
			if lacks == "" {
				work = append(work, func(ctx context.Context) error {
					o, err := traffic.Decide(ctx, of, limits[0])
					o.Algorithm, o.Limit = to.Algorithm, to.Limit
					*to = o
					return err
				})
			}
		}
	}
	return inParallel(ctx, work, func(done int) { progress("other limits, in process", done, len(work)) })
}

// lacking says what the stores lack that cannot run an algorithm, if none can.
func lacking(res *bench.ReplayResults, algorithm string) string {
	lacks := ""
	for _, one := range res.Results {
		switch {
		case one.Algorithm != algorithm:
		case one.Unsupported == nil:
			return ""
		case lacks == "":
			lacks = "needs " + strings.Join(one.Unsupported, " + ")
		}
	}
	return lacks
}

// inParallel does work on all processors and tells how much is done, never twice at once.
func inParallel(ctx context.Context, work []func(context.Context) error, tell func(done int)) error {
	var mu sync.Mutex
	done := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, do := range work {
		group.Go(func() error {
			err := do(ctx)
			mu.Lock()
			defer mu.Unlock()
			done++
			tell(done)
			return err
		})
	}
	return group.Wait()
}
