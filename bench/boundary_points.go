package bench

import (
	"context"
	"errors"
	"slices"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/trace"
)

const (
	boundaryPhases   = 3   // the worst of the known algorithms
	boundaryRequests = 100 // in a burst, at most
	phaseWindows     = 4   // from one phase to the next, so that they know nothing of each other
	pointsInWindow   = 8
)

// boundaryStream is one client that meets a boundary in several phases, one after the other. The
// moments are those at which something comes or expires.
func boundaryStream(limit weir.Limit) (events []trace.Event, moments []int64) {
	window, requests := limit.Window.Microseconds(), min(limit.Count, boundaryRequests)
	add := func(at, requests, count int64) {
		for r := range requests {
			cost := share(count, r+1, requests) - share(count, r, requests)
			events = append(events, trace.Event{Time: at, Key: "client", Cost: cost})
		}
		moments = append(moments, at-1, at, at+window-1, at+window)
	}
	for i, p := range phases(window)[:boundaryPhases] {
		first := simulatedStart(limit.Window) + (int64(i)*phaseWindows+2)*window - p.before
		if p.opener {
			add(first-(window-1), 1, 1)
		}
		add(first, requests, limit.Count)
		add(first+p.gap, requests, limit.Count)
	}
	return events, moments
}

// measureBoundary finds what is admitted over time. Where a log cannot take bursts so large there are no
// points.
func measureBoundary(ctx context.Context, p pair) ([]BoundaryPoint, error) {
	events, moments := boundaryStream(p.limit)
	var decided []boundaryDecision
	_, err := decide(ctx, p, events, func(e trace.Event, d weir.Decision) error {
		one := boundaryDecision{at: e.Time, asked: e.Cost}
		if d.Allowed {
			one.admitted = e.Cost
		}
		decided = append(decided, one)
		return nil
	})
	var field *weir.FieldError
	if errors.As(err, &field) && field.Field == "cost" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return boundaryPoints(decided, moments, p.limit), nil
}

type boundaryDecision struct{ at, asked, admitted int64 }

// boundaryPoints counts what was decided up to each moment, and at even distances in between.
func boundaryPoints(decided []boundaryDecision, moments []int64, limit weir.Limit) []BoundaryPoint {
	window, start := limit.Window.Microseconds(), simulatedStart(limit.Window)
	for i := range int64(boundaryPhases*phaseWindows*pointsInWindow + 1) {
		moments = append(moments, start+share(window, i, pointsInWindow))
	}
	slices.Sort(moments)
	var points []BoundaryPoint
	last := start - 1
	for _, at := range slices.Compact(moments) {
		if at < start {
			continue
		}
		p := BoundaryPoint{AtUS: at - start}
		for _, d := range decided {
			if d.at > last && d.at <= at {
				p.Asked += d.asked
				p.Admitted += d.admitted
			}
			if d.at > at-window && d.at <= at {
				p.InWindow += d.admitted
			}
		}
		points = append(points, p)
		last = at
	}
	return points
}
