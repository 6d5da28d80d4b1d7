package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

// section returns the lines of one table of a text.
func section(t *testing.T, text, title string) []string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n"+title)
	require.True(t, found, title)
	rest, _, _ = strings.Cut(rest, "\n\n")
	return strings.Split(rest, "\n")
}

func rowsOf(lines []string, algorithm string) (rows []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, " "+algorithm+" ") {
			rows = append(rows, strings.Join(strings.Fields(line), " "))
		}
	}
	return rows
}

func TestWrongDecisionsStandOncePerAlgorithm(t *testing.T) {
	r := measured()
	out, err := render(r, "text")
	require.NoError(t, err)
	lines := section(t, out, "Wrong decisions, by traffic shape")
	require.Equal(t, []string{"fixed-window │ where it runs │ 2.2% │ 5.8% │ 2.2% │ 5.8%"}, rowsOf(lines, "fixed-window"))
	require.Equal(t, []string{"sliding-log │ where it runs │ 0* │ 5.8% │ 0* │ 5.8%"}, rowsOf(lines, "sliding-log"))

	p := r.Results[3].Precision["steady"]
	p.ServerCalls = 800
	r.Results[3].Precision["steady"] = p
	out, err = render(r, "text")
	require.NoError(t, err)
	require.Len(t, rowsOf(section(t, out, "Wrong decisions"), "fixed-window"), 1, "round trips are the store's own")

	p.Wrong, p.WrongShare = 10, 0.00003
	r.Results[3].Precision["steady"] = p
	out, err = render(r, "text")
	require.NoError(t, err)
	require.Equal(t, []string{
		"fixed-window │ redis:private │ 2.2% │ 5.8% │ 2.2% │ 5.8%",
		"fixed-window │ memcache:private │ 2.2% │ 5.8% │ 0.003% │ 5.8%",
	}, rowsOf(section(t, out, "Wrong decisions"), "fixed-window"), "stores that differ stand apart")
}

func TestOneStoreKeepsItsName(t *testing.T) {
	r := measured()
	r.Results = r.Results[:2]
	out, err := render(r, "text")
	require.NoError(t, err)
	require.Len(t, rowsOf(section(t, out, "Wrong decisions"), "fixed-window"), 1)
	require.NotContains(t, out, "where it runs")
}

func TestFloorIsNoRival(t *testing.T) {
	out, err := render(measured(), "text")
	require.NoError(t, err)
	require.Equal(t, []string{"floor (information) │ any │ 2.1 │ 2 MiB │ 142 │ 135 MiB"}, rowsOf(section(t, out, "Memory"), "floor (information)"))
	require.Contains(t, out, "log2 C(W/tick + n, n)")

	r := measured()
	r.Floor = nil
	for _, format := range formats {
		out, err := render(r, format)
		require.NoError(t, err)
		require.NotContains(t, out, "floor (information)", format)
	}
}

// A scenario that an algorithm could not be given says why, in every form.
func TestPrecisionThatCouldNotBeTaken(t *testing.T) {
	const why = "a cost of 5000: want at most 1000"
	r := measured()
	r.Results[1].Precision["steady"] = bench.Precision{NA: why}
	r.Results[2].Precision = map[string]bench.Precision{"steady": {NA: why}, "boundary": {NA: why}}
	r.Results[2].Error = ""
	for _, format := range formats {
		out, err := render(r, format)
		require.NoError(t, err)
		require.Contains(t, out, why, format)
	}
	out, err := render(r, "text")
	require.NoError(t, err)
	for _, title := range []string{"Precision", "Wrong decisions"} {
		require.Regexp(t, `n/a \(`+why+`\)$`, rowsOf(section(t, out, title), "gcra")[0], "one text where there is nothing else")
	}
	for _, f := range report.Figures(r) {
		if f.Algorithm == "gcra" && f.Measure == "precision" {
			require.Equal(t, why, f.NA)
			require.Zero(t, f.Value)
		}
	}

	rep := replayed()
	rep.Results.Results[0].Precision = &bench.Precision{NA: why}
	for _, format := range formats {
		var b bytes.Buffer
		require.NoError(t, rep.Render(&b, format, nil))
		require.Contains(t, b.String(), why, format)
	}
}

// The share is in every form, and small ones are told apart.
func TestSharesOfWrongDecisions(t *testing.T) {
	r := measured()
	r.Results[0].Algorithm = "sliding-counter"
	p := r.Results[0].Precision["steady"]
	p.WrongShare, p.MeanError = 0.00003, 0.1234
	r.Results[0].Precision["steady"] = p
	for format, want := range map[string]string{
		"text": `0\.003% +│ +12\.3%`, "md": `0\.003% \| 12\.3%`, "csv": `steady,wrong_share,0\.00003,`,
		"json": `"wrong_share": 0\.00003`, "html": `data-v="0\.00003">0\.003%</td>`,
	} {
		out, err := render(r, format)
		require.NoError(t, err)
		require.Regexp(t, regexp.MustCompile(want), out, format)
	}
	out, err := render(r, "text")
	require.NoError(t, err)
	require.Contains(t, out, "Cloudflare published 0.003%")
	out, err = render(measured(), "text")
	require.NoError(t, err)
	require.NotContains(t, out, "Cloudflare", "only beside the counter")
}
