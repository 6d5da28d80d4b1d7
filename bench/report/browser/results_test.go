package browser_test

import (
	"fmt"
	"math"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/bench/report"
)

// hostile is a name that runs where it is taken for markup.
const hostile = `<img src=x onerror="console.error(1)"></script><script>console.error(2)</script>`

// everything is a run of many algorithms on three stores that measured all there is, with names of every length.
func everything() *bench.Results {
	r := &bench.Results{
		Version: bench.ResultsVersion,
		Environment: bench.Environment{
			Weir: "v1", Go: "go1.26", OS: "linux", Arch: "amd64", CPUs: 2, Flags: []string{"compare", hostile},
			Servers: []bench.ServerInfo{
				{Store: "memory:", Server: "this process", Class: "ZSET + scripting"},
				{Store: "redis:private", Server: "Redis 7.0.15", Class: "ZSET + scripting"},
				{Store: "memcache:private", Server: "memcached 1.6.18", Class: "CAS"},
			},
		},
		Limit: bench.LimitInfo{Text: "10/1s", Count: 10, WindowUS: 1e6},
		Floor: []bench.FloorPoint{{Events: 1, Bytes: 2}, {Events: 100, Bytes: 142}, {Events: 10_000, Bytes: 7000}},
	}
	names := []string{
		"fixed-window", "fixed-window-first-hit", "sliding-counter", "bucketed-window", "gcra", "sliding-log", "ring-log", "packed-log",
		"packed-log,block=10", hostile, "gcra,burst=20",
	}
	for s, store := range r.Environment.Servers {
		for i, name := range names {
			if s == 2 && (name == "sliding-log" || name == "ring-log") {
				r.Results = append(r.Results, bench.Result{Algorithm: name, Store: store.Store, Unsupported: []string{"sorted set", "script"}})
				continue
			}
			r.Results = append(r.Results, result(name, store.Store, i, math.Pow(30, float64(s))))
		}
	}
	return r
}

// result is made up, but of the shape that real ones have: several alike, some far apart.
func result(name, store string, i int, slow float64) bench.Result {
	n := float64(i + 1)
	most := []int64{20, 19, 19, 10, 19}[i%5]
	log := 0.0
	if i >= 5 {
		most, log = 10, 1
	}
	p := bench.Precision{
		Events: 1000, Keys: 4, Allowed: 400, Denied: 600, MaxInWindow: most, MaxOverLimit: float64(most) / 10, FalseDenied: int64(i % 4 * 20),
		Wrong: int64(i * 10), WrongShare: n / 40, ExactAdmitted: 400, AdmittedRatio: 1,
	}
	res := bench.Result{
		Algorithm: name, Store: store, Plan: "script", Exactness: "atomic", Trips: 1, DeniedTrips: 1,
		Guarantee: &bench.GuaranteeInfo{MaxInWindow: most}, Precision: map[string]bench.Precision{},
		Cost:   &bench.Cost{Trips: 1, Commands: 3, ServerUS: 6 * n, WireOut: 150 + n, WireIn: 40, Decisions: 1000},
		Stall:  &bench.Stall{Events: 100_000, LongestUS: 300 + 20_000*log*n, IdleUS: 90},
		Growth: &bench.Growth{},
	}
	for _, s := range []string{"boundary-burst", "cron", "steady", "trace"} {
		res.Precision[s] = p
	}
	for _, events := range []int64{1, 10, 100, 1000, 10_000} {
		bytes := 140 + float64(i%3) + log*float64(events)*n/4
		res.Memory = append(res.Memory, bench.Memory{Events: events, BytesPerKey: bytes, Keys: 1000})
		res.Growth.Events = append(res.Growth.Events, bench.EventsPoint{Events: events, DecisionUS: slow * (1 + log*math.Log(float64(events))*n/10)})
		res.Growth.Keys = append(res.Growth.Keys, bench.KeysPoint{Keys: events * 100, BytesPerKey: 140, DecisionNS: 1000 * slow * n})
	}
	for _, callers := range []int{1, 64} {
		c := float64(callers)
		res.Throughput = append(res.Throughput, bench.Throughput{
			Callers: callers, PerSecond: 1e6 / slow / n * math.Sqrt(c), Spread: 0.1, P50US: slow * c, P99US: slow * c * n, P999US: slow * c * n * 3,
			Decisions: 1000, Keys: 1000,
		})
		res.Growth.Callers = append(res.Growth.Callers, bench.CallersPoint{Callers: callers, PerSecond: 1e6 / slow / n * math.Sqrt(c), P99US: slow})
		res.OpenLoop = append(res.OpenLoop, bench.OpenLoop{Rate: 1000 * c, Achieved: 1000 * c, P50US: slow, P99US: slow * n, MaxUS: slow * 100})
	}
	for at := range int64(40) {
		point := bench.BoundaryPoint{AtUS: at * 100_000}
		if at >= 10 && at < 20 {
			point.Asked, point.Admitted, point.InWindow = 10, 1, min(most, at)
		}
		res.Boundary = append(res.Boundary, point)
	}
	return res
}

// slower is everything at half the speed, for a comparison.
func slower() *bench.Results {
	r := everything()
	for i := range r.Results {
		for j := range r.Results[i].Throughput {
			r.Results[i].Throughput[j].PerSecond /= 2
		}
	}
	r.Environment.Weir = fmt.Sprint(r.Environment.Weir, hostile)
	return r
}

// replayed is a replay whose panels have names of every length: two days in which denials come and go, and other limits.
func replayed() *report.Replay {
	const start, step = 1_780_302_600_000_000, 3600_000_000 // half past eight, 1 June 2026, UTC
	r := &report.Replay{
		Results: &bench.ReplayResults{Span: insight.Span{StartUS: start, StepUS: step, Requests: make([]int64, 48)}},
		Trace:   bench.TraceInfo{Name: hostile, Events: 48_000, Keys: 100, ResolutionUS: 1e6}, Limit: everything().Limit,
		Environment: everything().Environment,
	}
	for i, one := range everything().Results[:11] {
		d := &insight.Denials{Clients: i, ClientsShare: float64(i) / 100, OverTime: make([]int64, 48), LongestUS: 60e6, LockedOutUS: 3600e6}
		for k := range d.OverTime {
			r.Results.Span.Requests[k] = 1000
			d.OverTime[k] = int64(i * (k % 24))
			d.Hours[k%24] += d.OverTime[k]
		}
		p := one.Precision["trace"]
		r.Results.Results = append(r.Results.Results, bench.ReplayResult{
			Algorithm: one.Algorithm, Store: one.Store, Precision: &p, Denials: d,
			MostDenied: []insight.Client{{Key: hostile, Requests: 2000, Denied: 1000, FirstDeniedUS: start, LastDeniedUS: start + step}},
		})
		for _, limit := range []string{"5/1m", "10/1m", "200/1m", "100/1h+5/1s", "1000/1h+5/1s"} {
			var n float64
			_, _ = fmt.Sscan(limit, &n)
			r.Results.WhatIf = append(r.Results.WhatIf, insight.Outcome{
				Algorithm: one.Algorithm, Limit: limit, ClientsShare: 1 / (n + float64(i)), RequestShare: 0.5 / (n + float64(i)), MaxInWindow: 10,
			})
		}
		goal := insight.Goal{Of: insight.Clients, Most: 0.001}
		r.Results.Found = append(r.Results.Found, insight.Found{
			Algorithm: one.Algorithm, WindowUS: 60e6, Goal: goal, Limit: 27, RuledOut: 1, Outcome: &insight.Outcome{}, OneLess: &insight.Outcome{},
		})
	}
	return r
}
