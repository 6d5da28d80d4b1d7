package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

func TestCompareWithItself(t *testing.T) {
	d := report.Compare(measured(), measured(), "a.json", "b.json")
	require.Empty(t, d.Notes)
	require.NotEmpty(t, d.Changes)
	for _, c := range d.Changes {
		require.True(t, c.Equal(), c)
	}
	var b bytes.Buffer
	require.NoError(t, d.Render(&b, "text"))
	require.NotContains(t, b.String(), "│", "there is nothing to list")
	require.Regexp(t, `in all: (\d+) figures: (\d+) the same\.\n`, b.String())
}

func TestCompare(t *testing.T) {
	older, newer := measured(), measured()
	newer.Limit.Text = "20/1s"
	newer.Environment.Servers[0].Server = "Redis 8.0.0"
	steady := newer.Results[0].Precision["steady"]
	steady.MaxInWindow = 15
	newer.Results[0].Precision["steady"] = steady
	newer.Results[0].Throughput[0].PerSecond = 40_500 // within 2 %
	newer.Results[0].Throughput[1].PerSecond *= 2
	newer.Results[1].Memory = newer.Results[1].Memory[:1]
	older.Results[2].Throughput = nil

	d := report.Compare(older, newer, "a.json", "b.json")
	require.Equal(t, []string{
		"the limit differs: 10/1s, then 20/1s",
		"the server of redis:private differs: Redis 7.0.15, then Redis 8.0.0",
	}, d.Notes)
	find := func(algorithm, at, metric string) report.Change {
		for _, c := range d.Changes {
			if c.Algorithm == algorithm && c.Store == "redis:private" && c.At == at && c.Metric == metric {
				return c
			}
		}
		require.Fail(t, "no such change", "%s %s %s", algorithm, at, metric)
		return report.Change{}
	}
	c := find("fixed-window", "steady", "max_in_window")
	require.Equal(t, -25.0, c.Percent)
	require.False(t, c.Within)
	require.True(t, find("fixed-window", "1", "per_second").Within)
	c = find("fixed-window", "64", "per_second")
	require.Equal(t, 100.0, c.Percent)
	require.False(t, c.Within)
	require.Equal(t, "not in this run", find("sliding-log", "100", "bytes_per_key").NA)
	require.Equal(t, "not in this run", find("gcra", "1", "per_second").OldNA)

	var b bytes.Buffer
	require.NoError(t, d.Render(&b, "text"))
	require.Contains(t, b.String(), "! the limit differs: 10/1s, then 20/1s")
	text := b.String()
	require.Regexp(t, `max_in_window: precision\n.*\n.*\n fixed-window +│ redis:private │ steady +│ +20  │ +15  │ -25.0% +│ better`, text)
	require.Regexp(t, `fixed-window +│ redis:private │ 1 +│ +40,100 ±1%  │ +40,500 ±1%  │ +~  │`, text)
	require.Regexp(t, `fixed-window +│ redis:private │ 64 +│ +120,000 ±1%  │ +241,000 ±1%  │ \+100.0%  │ better`, text)
	require.Regexp(t, `in all: \d+ figures: \d+ the same, 1 within the spread, 2 better, \d+ in one run only\.`, text)
	// Both runs have four pairs, of which two changed: the fourth root of 1.009 x 2.
	require.Regexp(t, `geomean +│ all +│ +│ +[\d,]+  │ +[\d,]+  │ +\+19\.2%`, text)

	b.Reset()
	require.NoError(t, d.Render(&b, "csv"))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Contains(t, rows, []string{"fixed-window", "redis:private", "throughput", "64", "per_second", "120369", "0.02", "240738", "0.02", "100.00", "false", "better", ""})

	b.Reset()
	require.NoError(t, d.Render(&b, "json"))
	var back report.Difference
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	require.Equal(t, d.Changes, back.Changes)
}

func TestCompareTellsBetterFromWorse(t *testing.T) {
	older, newer := measured(), measured()
	set := func(r *bench.Results, most int64, bytes, perSecond float64) {
		r.Results[0].Precision["steady"] = bench.Precision{Events: 400, MaxInWindow: most}
		r.Results[0].Memory[1].BytesPerKey = bytes
		r.Results[0].Throughput[1].PerSecond = perSecond
	}
	for _, c := range []struct {
		metric   string
		old, now float64
		verdict  string
		within   bool
	}{
		{"max_in_window", 20, 12, "better", false},
		{"max_in_window", 12, 20, "worse", false},
		{"max_in_window", 10, 7, "", false}, // less than the limit is no better
		{"bytes_per_key", 100, 100.9, "", true},
		{"bytes_per_key", 100, 102, "worse", false},
		{"per_second", 1000, 1015, "", true},
		{"per_second", 1000, 900, "worse", false},
		{"per_second", 1000, 1100, "better", false},
	} {
		of := func(v float64, metric string, otherwise float64) float64 {
			if c.metric == metric {
				return v
			}
			return otherwise
		}
		set(older, int64(of(c.old, "max_in_window", 10)), of(c.old, "bytes_per_key", 50), of(c.old, "per_second", 50))
		set(newer, int64(of(c.now, "max_in_window", 10)), of(c.now, "bytes_per_key", 50), of(c.now, "per_second", 50))
		changed := 0
		for _, got := range report.Compare(older, newer, "a", "b").Changes {
			if got.Metric == c.metric && !got.Equal() {
				changed++
				require.Equal(t, c.verdict, got.Verdict, c)
				require.Equal(t, c.within, got.Within, c)
			}
		}
		require.Equal(t, 1, changed, c)
	}
}

func TestCompareHostile(t *testing.T) {
	older, newer := measured(), measured()
	for i := range newer.Results {
		newer.Results[i].Store = hostile
	}
	for _, format := range formats {
		var b bytes.Buffer
		require.NoError(t, report.Compare(older, newer, hostile, "b.json").Render(&b, format))
		require.NotContains(t, b.String(), "\x1b", format)
		if format != "csv" && format != "text" {
			require.NotContains(t, b.String(), "<script>alert", format)
		}
		if format == "html" {
			require.Equal(t, strings.Count(b.String(), "<tr"), strings.Count(b.String(), "</tr>"))
		}
	}
}
