package report_test

import (
	"bytes"
	"time"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

const hostile = `<script>alert(1)</script>|a` + "\n\x1b[31m"

// measured is what a run may have found: two stores, one of them a stand-in, and all kinds of gaps.
func measured() *bench.Results {
	precision := func(most, over, denied int64) map[string]bench.Precision {
		p := bench.Precision{
			Events: 400, Keys: 4, Allowed: 100, Denied: 300, MaxInWindow: most, MaxOverLimit: float64(most) / 10,
			OverAdmitted: over, FalseDenied: denied, ExactAdmitted: 100, AdmittedRatio: 1, RetryErrorMeanUS: 1500,
			Wrong: over + denied, WrongShare: float64(over+denied) / 400, MeanError: 0.058,
		}
		return map[string]bench.Precision{"boundary": p, "steady": p}
	}
	speed := func(perSecond, spread float64) []bench.Throughput {
		return []bench.Throughput{
			{Callers: 1, PerSecond: perSecond, Spread: spread, P50US: 40, P99US: 90, P999US: 200, Decisions: 1000, Keys: 100},
			{Callers: 64, PerSecond: 3 * perSecond, Spread: spread, P50US: 400, P99US: 900, P999US: 2000, Decisions: 1000, Keys: 100},
		}
	}
	stoodIn := []bench.Throughput{{Callers: 1, NA: "stand-in"}, {Callers: 64, NA: "stand-in"}}
	declared := func(most, deficit int64, evicts bool) *bench.GuaranteeInfo {
		return &bench.GuaranteeInfo{MaxInWindow: most, Deficit: deficit, Evicts: evicts}
	}
	return &bench.Results{
		Version: bench.ResultsVersion,
		Environment: bench.Environment{
			Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Weir: "v0.1.0", Go: "go1.26", OS: "linux", Arch: "amd64",
			CPU: "A CPU", CPUs: 2, Seed: 7, Flags: []string{"compare", "--limit", "10/1s", "--match", "POST /it's"},
			Servers: []bench.ServerInfo{
				{Store: "redis:private", Server: "Redis 7.0.15", Class: "ZSET + scripting"},
				{Store: "memcache:private", Server: "in-process memcached", Class: "CAS", StandIn: "in-process memcached"},
			},
		},
		Limit:   bench.LimitInfo{Text: "10/1s", Count: 10, WindowUS: 1e6},
		Clients: 1_000_000,
		Floor:   []bench.FloorPoint{{Events: 1, Bytes: 2.1, Total: 2.1e6}, {Events: 100, Bytes: 142.03, Total: 142.03e6}},
		Results: []bench.Result{
			{
				Algorithm: "fixed-window", Store: "redis:private", Plan: "script", Exactness: "atomic", Trips: 1, DeniedTrips: 1,
				Guarantee: declared(20, 0, false), Precision: precision(20, 9, 0), Throughput: speed(40_123, 0.02),
				Memory: []bench.Memory{{Events: 1, BytesPerKey: 96.25, Keys: 1000, Total: 96.25e6}, {Events: 100, BytesPerKey: 96, Keys: 1000, Total: 96e6}},
			},
			{
				Algorithm: "sliding-log", Store: "redis:private", Plan: "script", Exactness: "atomic", Trips: 1, DeniedTrips: 1,
				Guarantee: declared(10, 0, false), Precision: precision(10, 0, 0), Throughput: speed(39_900, 0.02),
				Memory: []bench.Memory{{Events: 1, BytesPerKey: 200, Keys: 1000, Total: 2e8, Shared: true}, {Events: 100, BytesPerKey: 4000, Keys: 1000, Total: 4e9}},
			},
			{
				Algorithm: "gcra", Store: "redis:private", Plan: "script", Exactness: "atomic", Trips: 1, DeniedTrips: 1,
				Guarantee: declared(19, 0, false), Precision: precision(19, 8, 0), Throughput: speed(20_000, 0.02),
				Error: "context deadline exceeded",
			},
			{
				Algorithm: "fixed-window", Store: "memcache:private", Plan: "counter", Exactness: "spurious denials", Trips: 1, DeniedTrips: 2,
				Guarantee: declared(20, 0, true), Precision: precision(20, 9, 0), Throughput: stoodIn,
				Memory: []bench.Memory{{Events: 1, NA: "stand-in"}, {Events: 100, NA: "stand-in"}},
			},
			{Algorithm: "sliding-log", Store: "memcache:private", Unsupported: []string{"sorted set", "script"}},
		},
	}
}

func render(r *bench.Results, format string) (string, error) {
	var b bytes.Buffer
	err := report.Render(&b, r, format, nil)
	return b.String(), err
}

// full is a run that measured everything.
func full() *bench.Results {
	r := measured()
	boundary := func(most int64) []bench.BoundaryPoint {
		return []bench.BoundaryPoint{
			{AtUS: 0},
			{AtUS: 999_999, Asked: 10, Admitted: 10, InWindow: 10},
			{AtUS: 1_000_000, Asked: 10, Admitted: most - 10, InWindow: most},
			{AtUS: 2_000_000},
		}
	}
	for i := range r.Results {
		res := &r.Results[i]
		if res.Unsupported != nil {
			continue
		}
		res.Boundary = boundary([]int64{20, 10, 19, 20}[i])
		if res.Store == "memcache:private" {
			res.Cost = &bench.Cost{NA: "stand-in"}
			res.OpenLoop = []bench.OpenLoop{{Rate: 1000, NA: "stand-in"}}
			continue
		}
		n := float64(i + 1)
		res.Cost = &bench.Cost{Trips: 1, Commands: 2 + n, ServerUS: 6 * n, WireOut: 150, WireIn: 40 * n, Decisions: 1000}
		res.Growth = &bench.Growth{
			Events:  []bench.EventsPoint{{Events: 1, DecisionUS: 30, ServerUS: 5}, {Events: 1000, DecisionUS: 30 * n, ServerUS: 5 * n}},
			Keys:    []bench.KeysPoint{{Keys: 1000, BytesPerKey: 96, DecisionNS: 30_000}, {Keys: 1_000_000, BytesPerKey: 96, DecisionNS: 31_000}},
			Callers: []bench.CallersPoint{{Callers: 1, PerSecond: 20_000, P50US: 40, P99US: 80, Spread: 0.1}, {Callers: 64, PerSecond: 90_000 / n, P50US: 400, P99US: 800}},
		}
		res.Stall = &bench.Stall{Events: 100_000, LongestUS: 20_000 / n, IdleUS: 90}
		res.OpenLoop = []bench.OpenLoop{
			{Rate: 1000, Achieved: 1000, P50US: 50, P99US: 100 * n, P999US: 300, MaxUS: 900}, {Rate: 8000, Achieved: 7990, P50US: 60, P99US: 200 * n, P999US: 400, MaxUS: 1000},
		}
	}
	return r
}
