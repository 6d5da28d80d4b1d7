package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	require.Regexp(t, `\d+ figures in all: \d+ the same`, b.String())
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
	require.Regexp(t, `fixed-window +│ redis:private +│ max_in_window @ steady +│ +20 │ +15 │ +-25.0% │\n`, b.String())
	require.Regexp(t, `fixed-window +│ redis:private +│ per_second @ 1 +│ +40123 │ +40500 │ +\+0.9% │ ~`, b.String())

	b.Reset()
	require.NoError(t, d.Render(&b, "csv"))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Contains(t, rows, []string{"fixed-window", "redis:private", "throughput", "64", "per_second", "120369", "0.02", "240738", "0.02", "100.00", "false", ""})

	b.Reset()
	require.NoError(t, d.Render(&b, "json"))
	var back report.Difference
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	require.Len(t, back.Changes, len(d.Changes))
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
