package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// exactColumns tell how true a history of decisions is.
func exactColumns(limit int64) []column {
	return []column{
		{title: "max in W", better: lower, enough: float64(limit)}, {title: "over", better: lower}, {title: "false denied", better: lower},
	}
}

func exactCells(p bench.Precision) []cell {
	return []cell{
		number(digits.Group(p.MaxInWindow), float64(p.MaxInWindow)), number(digits.Group(p.OverAdmitted), float64(p.OverAdmitted)),
		number(digits.Group(p.FalseDenied), float64(p.FalseDenied)),
	}
}

func precision(r *bench.Results, detail bool) grid {
	columns := exactColumns(r.Limit.Count)
	if detail {
		columns = append(columns, column{title: "of exact"}, column{title: "retry error", better: lower})
	}
	return byScenario(r, grid{id: "precision", title: "Precision, by scenario"}, columns, func(p bench.Precision) []cell {
		cells := exactCells(p)
		if detail {
			cells = append(cells, number(fmt.Sprintf("%.3f", p.AdmittedRatio), p.AdmittedRatio),
				number(micros(p.RetryErrorMeanUS), p.RetryErrorMeanUS))
		}
		return cells
	})
}

// wrongColumns tell how often and how far a history of decisions is wrong.
func wrongColumns() []column {
	return []column{{title: "wrong", better: lower}, {title: "mean error", better: lower}}
}

func wrongCells(p bench.Precision) []cell {
	return []cell{number(share(p.WrongShare), p.WrongShare), number(share(p.MeanError), p.MeanError)}
}

// wrong tells what a share published for some traffic leaves out: it is another's on any other.
func wrong(r *bench.Results) grid {
	return byScenario(r, grid{id: "wrong", title: "Wrong decisions, by traffic shape"}, wrongColumns(), wrongCells)
}

// byScenario fills a grid with a group of columns for each scenario.
func byScenario(r *bench.Results, t grid, columns []column, cells func(bench.Precision) []cell) grid {
	t.storeless = true
	scenarios := scenarioNames(r)
	for _, s := range scenarios {
		t.groups = append(t.groups, group{title: printable(s), columns: columns})
	}
	once := *r
	once.Results = decidedAlike(r.Results, samePrecision)
	t.fill(&once, func(res bench.Result) (all []cell) {
		for _, s := range scenarios {
			p, ok := res.Precision[s]
			if ok && p.NA == "" {
				all = append(all, cells(p)...)
				continue
			}
			for range columns {
				all = append(all, words(printable(notMeasured(p.NA))))
			}
		}
		return all
	})
	return t
}

// everyStore stands for the stores on which an algorithm decided alike, where a run has several. Which they
// are, and what the others lack, is told with the promises.
const everyStore = "where it runs"

// decidedAlike puts one result in place of those of an algorithm that are the same on every store that can run it.
func decidedAlike(results []bench.Result, same func(a, b bench.Result) bool) (all []bench.Result) {
	several := slices.ContainsFunc(results, func(r bench.Result) bool { return r.Store != results[0].Store })
	done := map[string]bool{}
	for _, res := range results {
		if done[res.Algorithm] {
			continue
		}
		done[res.Algorithm] = true
		var own, ran []bench.Result
		for _, other := range results {
			if other.Algorithm != res.Algorithm {
				continue
			}
			own = append(own, other)
			if other.Unsupported == nil {
				ran = append(ran, other)
			}
		}
		differs := func(r bench.Result) bool {
			return r.Error != "" || !same(r, ran[0])
		}
		if len(ran) > 0 && several && !slices.ContainsFunc(ran, differs) {
			ran[0].Store = everyStore
			own = ran[:1]
		}
		all = append(all, own...)
	}
	return all
}

func samePrecision(a, b bench.Result) bool {
	return maps.EqualFunc(a.Precision, b.Precision, sameDecisions)
}

// sameDecisions leaves the round trips out, which are the store's.
func sameDecisions(a, b bench.Precision) bool {
	a.ServerCalls, a.DeclaredCalls, b.ServerCalls, b.DeclaredCalls = 0, 0, 0, 0
	return a == b
}

// scenarioNames are in the order of the alphabet: the results keep no other.
func scenarioNames(r *bench.Results) []string {
	names := map[string]bool{}
	for _, res := range r.Results {
		for s := range res.Precision {
			names[s] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
