package report

import (
	"fmt"
	"time"

	"github.com/weirlimits/weir/bench/insight"
)

// denialMetrics are of one limiter and the whole trace.
var denialMetrics = []metricOf[insight.Denials]{
	{"denied_clients", func(d insight.Denials) float64 { return float64(d.Clients) }},
	{"denied_clients_share", func(d insight.Denials) float64 { return d.ClientsShare }},
	{"denied_share", func(d insight.Denials) float64 { return d.RequestShare }},
	{"denied_never", func(d insight.Denials) float64 { return float64(d.Never) }},
	{"locked_out_us", func(d insight.Denials) float64 { return float64(d.LockedOutUS) }},
	{"longest_us", func(d insight.Denials) float64 { return float64(d.LongestUS) }},
}

var clientMetrics = []metricOf[insight.Client]{
	{"requests", func(c insight.Client) float64 { return float64(c.Requests) }},
	{"denied", func(c insight.Client) float64 { return float64(c.Denied) }},
	{"locked_out_us", func(c insight.Client) float64 { return float64(c.LockedOutUS) }},
	{"longest_us", func(c insight.Client) float64 { return float64(c.LongestUS) }},
}

var deniedMetric = []metricOf[int64]{{"denied", func(n int64) float64 { return float64(n) }}}

var outcomeMetrics = []metricOf[insight.Outcome]{
	{"denied_clients", func(o insight.Outcome) float64 { return float64(o.DeniedClients) }},
	{"denied_clients_share", func(o insight.Outcome) float64 { return o.ClientsShare }},
	{"denied", func(o insight.Outcome) float64 { return float64(o.Denied) }},
	{"denied_share", func(o insight.Outcome) float64 { return o.RequestShare }},
	{"max_in_window", func(o insight.Outcome) float64 { return float64(o.MaxInWindow) }},
	{"false_denied", func(o insight.Outcome) float64 { return float64(o.FalseDenied) }},
}

var foundMetrics = []metricOf[insight.Found]{
	{"limit", func(f insight.Found) float64 { return float64(f.Limit) }},
	{"ruled_out_from", func(f insight.Found) float64 { return float64(f.RuledOut) }},
}

// ReplayMetrics names those by which a replay can be checked: those of [Replay.Figures].
func ReplayMetrics() []string { return appendNames(PrecisionMetrics(), denialMetrics) }

// Figures returns the numbers of each limiter that was replayed.
func (r *Replay) Figures() []Figure {
	all := Figures(r.AsResults())
	for _, one := range r.Results.Results {
		if one.Denials != nil {
			f := Figure{Algorithm: one.Algorithm, Store: one.Store, Measure: "denials"}
			all = appendFigures(all, f, *one.Denials, denialMetrics)
		}
	}
	return all
}

// insights are all figures that [Replay.AsResults] has no place for.
func (r *Replay) insights() (all []Figure) {
	span := r.Results.Span
	for _, one := range r.Results.Results {
		if one.Denials == nil {
			continue
		}
		f := Figure{Algorithm: one.Algorithm, Store: one.Store, Measure: "denials"}
		all = appendFigures(all, f, *one.Denials, denialMetrics)
		f.Measure = "hour"
		for hour, n := range one.Denials.Hours {
			f.At = fmt.Sprintf("%02d", hour)
			all = appendFigures(all, f, n, deniedMetric)
		}
		f.Measure = "time"
		for i, n := range one.Denials.OverTime {
			f.At = time.UnixMicro(span.StartUS + int64(i)*span.StepUS).UTC().Format(time.RFC3339)
			all = appendFigures(all, f, n, deniedMetric)
		}
		f.Measure = "client"
		for _, c := range one.MostDenied {
			f.At = shortened(printable(c.Key))
			all = appendFigures(all, f, c, clientMetrics)
		}
	}
	for _, o := range r.Results.WhatIf {
		all = appendFigures(all, Figure{Algorithm: o.Algorithm, Store: inProcess, Measure: "what_if", At: o.Limit, NA: o.NA}, o, outcomeMetrics)
	}
	for _, found := range r.Results.Found {
		f := Figure{
			Algorithm: found.Algorithm, Store: inProcess, Measure: "find_limit", NA: found.NA,
			At: windowText(found.WindowUS) + ": " + found.Goal.String(),
		}
		all = appendFigures(all, f, found, foundMetrics)
		for _, side := range []struct {
			measure string
			of      *insight.Outcome
		}{{"find_limit", found.Outcome}, {"one_less", found.OneLess}} {
			if side.of != nil {
				f.Measure, f.NA = side.measure, side.of.NA
				all = appendFigures(all, f, *side.of, outcomeMetrics)
			}
		}
	}
	return all
}
