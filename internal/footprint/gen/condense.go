package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/footprint"
)

const callers = 64 // of the loop whose speed is kept

// prefix is as long as the shorter ones of a run are: some are longer by one.
var prefix = strings.Repeat("p", 19)

// condense returns the model, as JSON.
func condense(dir fs.FS) ([]byte, error) {
	m := footprint.Model{Stores: map[string]footprint.Store{}, Precision: map[string]footprint.Precision{}}
	for _, name := range []string{"compare.json", "cage.json"} {
		r, err := read(dir, name)
		if err != nil {
			return nil, err
		}
		if name == "compare.json" {
			m.Limit, m.Commit = r.Limit.Text, r.Environment.Commit
			m.Machine = fmt.Sprintf("%s, %d CPUs", r.Environment.CPU, r.Environment.CPUs)
			if err := fit(&m, r); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		speeds(&m, r)
		precision(&m, r)
	}
	b, err := json.MarshalIndent(m, "", "  ")
	return append(b, '\n'), err
}

func read(dir fs.FS, name string) (*bench.Results, error) {
	r := &bench.Results{}
	b, err := fs.ReadFile(dir, name)
	if err == nil {
		err = json.Unmarshal(b, r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("%s: %w", name, err)
	case r.Version != bench.ResultsVersion:
		return r, fmt.Errorf("%s: version %d: want %d", name, r.Version, bench.ResultsVersion)
	case r.Incomplete != "":
		return r, fmt.Errorf("%s: a run that ended early (%s): want a whole one", name, r.Incomplete)
	}
	return r, nil
}

// storeOf is the name that a store has in its traits: "redis:private" is "redis".
func storeOf(r bench.Result) string {
	name, _, _ := strings.Cut(r.Store, ":")
	return name
}

// point is a measured figure and what it is made of.
type point struct {
	measured  float64
	estimates []float64 // without overhead, for either length of the prefix
	keys      float64
}

// fit finds each store's overhead, and by how much estimates with it are off; and the curves of data structures.
func fit(m *footprint.Model, r *bench.Results) error {
	points, f := map[string][]point{}, filler{}
	for _, one := range r.Results {
		if structured, err := isStructured(one); err != nil || structured {
			if err != nil {
				return err
			}
			continue
		}
		for _, p := range one.Memory {
			if p.NA != "" || p.BytesPerKey == 0 {
				continue
			}
			q := point{measured: p.BytesPerKey}
			items, err := f.fill(one, r.Limit.Text, p.Events)
			if err != nil {
				return err
			}
			q.keys = float64(len(items))
			for range 2 {
				q.estimates = append(q.estimates, footprint.Sum(items, footprint.Allocators[storeOf(one)], 0))
				items = slices.Clone(items)
				for i := range items {
					items[i].Name++
				}
			}
			points[storeOf(one)] = append(points[storeOf(one)], q)
		}
	}
	for name, ps := range points {
		s := footprint.Store{Speed: map[string]footprint.Speed{}, Curves: map[string]footprint.Curve{}}
		var over []float64
		for _, p := range ps {
			over = append(over, (p.measured-p.estimates[0])/p.keys)
		}
		slices.Sort(over)
		s.Overhead = round(over[len(over)/2])
		for _, p := range ps {
			off := math.Inf(1)
			for _, e := range p.estimates {
				off = min(off, math.Abs((e+p.keys*s.Overhead)/p.measured-1))
			}
			s.Error = max(s.Error, off)
		}
		s.Error = math.Ceil(s.Error*100) / 100
		m.Stores[name] = s
	}
	return curves(m, r, f)
}

// curves keeps the bytes of data structures.
func curves(m *footprint.Model, r *bench.Results, f filler) error {
	for _, one := range r.Results {
		structured, err := isStructured(one)
		if err != nil {
			return err
		}
		if !structured {
			continue
		}
		s := m.Stores[storeOf(one)]
		for _, p := range one.Memory {
			items, err := f.fill(one, r.Limit.Text, 1)
			if err != nil {
				return err
			}
			if p.NA == "" {
				s.Curves[one.Algorithm] = append(s.Curves[one.Algorithm], footprint.Point{
					Requests: p.Events, Bytes: round(p.BytesPerKey - s.Overhead - footprint.RedisKey(items[0])),
				})
			}
		}
	}
	return nil
}

func isStructured(r bench.Result) (bool, error) {
	plan, _, err := planOf(r, weir.Limit{Count: 100, Window: time.Minute})
	return plan != nil && storeOf(r) == "redis" && footprint.Structured(*plan), err
}

// planOf returns the plan that was measured; nil of what could not run.
func planOf(r bench.Result, limit weir.Limit) (*weir.Plan, weir.Algorithm, error) {
	a, err := algorithms.Parse(r.Algorithm)
	if err != nil {
		return nil, nil, err
	}
	shape, err := a.Shape(limit)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range shape.Plans {
		if p.Name == r.Plan {
			return &p, a, nil
		}
	}
	return nil, a, nil
}

// filler remembers what it filled: stores that run the same plan keep the same.
type filler map[string][]footprint.Item

// fill plays so many requests under a limit that admits them.
func (f filler) fill(r bench.Result, limitText string, n int64) ([]footprint.Item, error) {
	name := fmt.Sprint(r.Algorithm, " ", r.Plan == "counter", " ", n) // other plans run the same step
	if items, ok := f[name]; ok {
		return items, nil
	}
	limit, err := weir.ParseLimit(limitText)
	if err != nil {
		return nil, err
	}
	limit.Count = max(limit.Count, n)
	plan, a, err := planOf(r, limit)
	if err != nil || plan == nil {
		return nil, fmt.Errorf("%s on %s: no plan %q: %w", r.Algorithm, r.Store, r.Plan, err)
	}
	f[name], err = footprint.Fill(context.Background(), footprint.Client{
		Algorithm: a, Plan: *plan, Limit: limit, Prefix: prefix, Key: footprint.TypicalKey, Requests: n, Cost: 1,
	})
	return f[name], err
}

func speeds(m *footprint.Model, r *bench.Results) {
	for _, one := range r.Results {
		for _, t := range one.Throughput {
			if t.Callers != callers || t.NA != "" || t.PerSecond == 0 {
				continue
			}
			speed := footprint.Speed{PerSecond: math.Round(t.PerSecond), Spread: round(t.Spread)}
			if t.Gathered != nil {
				speed.Gathered = math.Round(t.Gathered.PerSecond)
			}
			m.Stores[storeOf(one)].Speed[one.Algorithm] = speed
		}
	}
}

// precision keeps the worst of each figure. That of a cage is left out: it was judged by the long limit alone.
func precision(m *footprint.Model, r *bench.Results) {
	for _, one := range r.Results {
		if len(one.Precision) == 0 || strings.Contains(one.Algorithm, "+") {
			continue
		}
		p, seen := m.Precision[one.Algorithm]
		if !seen {
			p.Admitted = 1
		}
		for _, s := range one.Precision {
			if s.Events > 0 {
				p.Over = max(p.Over, round(float64(s.OverAdmitted)/float64(s.Events)))
				p.Denied = max(p.Denied, round(float64(s.FalseDenied)/float64(s.Events)))
				p.Admitted = min(p.Admitted, round(s.AdmittedRatio))
			}
		}
		m.Precision[one.Algorithm] = p
	}
}

// round keeps four decimals: the file is read by people too.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
