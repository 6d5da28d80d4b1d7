package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// functions are what the page's template can ask for.
func (m *measured) functions() template.FuncMap {
	limit := m.compare.Limit
	return template.FuncMap{
		"limit":      func() string { return limit.Text },
		"limitCount": func() string { return digits.Group(limit.Count) },
		"n":          func(v any) (string, error) { return number(v) },
		"bytes": func(store, algorithm string, events int64) (string, error) {
			b, err := m.bytes(store, algorithm, events)
			return digits.Group(int64(math.Round(b))), err
		},
		"per": func(store, algorithm string, events int64) (string, error) {
			b, err := m.bytes(store, algorithm, events)
			return digits.Short(b / float64(events)), err
		},
		"total": func(store, algorithm string, events, clients int64) (string, error) {
			b, err := m.bytes(store, algorithm, events)
			return size(b * float64(clients)), err
		},
		"times": func(algorithm string) (string, error) {
			most, err := mostInWindow(m.compare, algorithm)
			return digits.Short(float64(most)/float64(limit.Count)) + " times", err
		},
		"max": func(algorithm, scenario string) (string, error) {
			r, err := result(m.compare, "redis", algorithm)
			if err != nil {
				return "", err
			}
			p, ok := r.Precision[scenario]
			if !ok || p.NA != "" {
				return "", fmt.Errorf("no %s of %s", scenario, algorithm)
			}
			return digits.Group(p.MaxInWindow), nil
		},
		"denied": func(algorithm string) (string, error) {
			d, err := m.worstDenied(algorithm)
			return percent(d), err
		},
		"admits": func(algorithm string) (string, error) {
			a, err := m.leastAdmitted(algorithm)
			return percent(a), err
		},
		"jumpAt": func(store, algorithm string) (int64, error) {
			at, _, _, err := m.jump(store, algorithm)
			return at, err
		},
		"jumpTo": func(store, algorithm string) (int64, error) {
			_, to, _, err := m.jump(store, algorithm)
			return to, err
		},
		"jump": func(store, algorithm string) (string, error) {
			_, _, ratio, err := m.jump(store, algorithm)
			return digits.Short(ratio), err
		},
		"cageLimit": m.cageLimit,
		"cageMax": func() (string, error) {
			most, err := mostInWindow(m.cage, m.cage.Results[0].Algorithm)
			return digits.Group(most), err
		},
		"cageInstant": m.cageInstant,
		"cageBytes": func(store string) (string, error) {
			r, err := result(m.cage, store, m.cage.Results[0].Algorithm)
			if err != nil {
				return "", err
			}
			b, err := bytesAt(r, 1)
			return digits.Group(int64(math.Round(b))), err
		},
		"peersLimit":  m.peers.limit,
		"table":       m.table,
		"tolerance":   func() string { return percent(tolerance) },
		"environment": func() string { return environment(m.compare.Environment) },
		"checksums": func() string {
			return "The results' SHA-256:\n\n```\n" + strings.Join(m.sums, "\n") + "\n```"
		},
	}
}

// cageLimit is the limit of the caged run, all layers of it.
func (m *measured) cageLimit() string {
	_, layers, _ := strings.Cut(m.cage.Results[0].Algorithm, "+")
	return m.cage.Limit.Text + "+" + layers
}

// cageInstant is twice the smallest count of the cage's parts: one burst on each side of a boundary.
func (m *measured) cageInstant() (string, error) {
	smallest := int64(math.MaxInt64)
	for part := range strings.SplitSeq(m.cageLimit(), "+") {
		count, _, _ := strings.Cut(part, "/")
		v, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return "", fmt.Errorf("the cage's limit %q: %w", m.cageLimit(), err)
		}
		smallest = min(smallest, v)
	}
	return digits.Group(2 * smallest), nil
}

func environment(e bench.Environment) string {
	var servers []string
	for _, s := range e.Servers {
		servers = append(servers, s.Server)
	}
	return fmt.Sprintf("Measured on %s with %s on %s/%s, %d CPUs (%s) that the servers share: %s. Seed %d, commit `%.12s`, `weir %s`.",
		e.Started.UTC().Format("2006-01-02"), e.Go, e.OS, e.Arch, e.CPUs, e.CPU, strings.Join(servers, ", "), e.Seed, e.Commit,
		strings.Join(e.Flags, " "))
}

func number(v any) (string, error) {
	switch v := v.(type) {
	case int:
		return digits.Group(int64(v)), nil
	case int64:
		return digits.Group(v), nil
	}
	return "", fmt.Errorf("%v is no whole number", v)
}

func percent(part float64) string {
	if part == 0 {
		return "none"
	}
	return digits.Percent(part)
}

func size(bytes float64) string {
	for _, u := range []struct {
		bytes float64
		name  string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if bytes >= u.bytes {
			return digits.Short(bytes/u.bytes) + " " + u.name
		}
	}
	return digits.Group(int64(bytes)) + " bytes"
}

// micros is a time given in microseconds.
func micros(us float64) string {
	switch {
	case us >= 1e6:
		return digits.Short(us/1e6) + " s"
	case us >= 1e3:
		return digits.Short(us/1e3) + " ms"
	default:
		return digits.Short(us) + " us"
	}
}
