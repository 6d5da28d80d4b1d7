package report_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/report"
)

// FuzzResults: a results file may be cut, foreign or forged: it is refused in one line, or rendered in every
// form and compared with itself.
func FuzzResults(f *testing.F) {
	for _, name := range []string{"cage.json", "compare.json"} {
		whole, err := os.ReadFile("../../docs/results/" + name)
		require.NoError(f, err)
		if name == "cage.json" {
			f.Add(whole)
		}
		f.Add(whole[:len(whole)/2])
	}
	for _, s := range []string{
		"", "{}", `{"version":1}`, `[]`, "null", `{"version":-1}`, `{"version":1,"results":[{}]}{}`, strings.Repeat("[", 20_000),
		`{"version":1,"results":[{"algorithm":"a","store":"b","throughput":{"per_second":{"median":-1e308}}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		res, err := bench.ReadResults(bytes.NewReader(data), "fuzz")
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "bench: results fuzz: "), err)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		for _, format := range []string{"text", "csv", "md", "html", "json"} {
			if err := report.Render(io.Discard, res, format, nil); err != nil {
				require.NotContains(t, err.Error(), "\n")
			}
			if format != "html" {
				_ = report.Compare(res, res, "a", "b").Render(io.Discard, format)
			}
		}
		report.Figures(res)
	})
}
