package hammer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
)

func TestVerdicts(t *testing.T) {
	exact := Count{Allowed: 10, Denied: 90}
	for name, c := range map[string]struct {
		runs           []Count
		racy, spurious bool
		err            string
		verdict        Verdict
		ok             bool
		text           string
	}{
		"exact":                          {runs: []Count{exact, exact}, verdict: Exact, ok: true, text: "exact"},
		"one over":                       {runs: []Count{exact, {Allowed: 11, Denied: 89}}, verdict: Over, text: "FAILED: 1 over"},
		"one fewer":                      {runs: []Count{exact, {Allowed: 8, Denied: 92}}, verdict: Fewer, text: "FAILED: 2 fewer"},
		"over and fewer":                 {runs: []Count{{Allowed: 8}, {Allowed: 13}}, verdict: Over, text: "FAILED: 3 over"},
		"spurious and fewer":             {runs: []Count{{Allowed: 9}}, spurious: true, verdict: Fewer, ok: true, text: "1 fewer (spurious denials)"},
		"spurious and over":              {runs: []Count{{Allowed: 12}}, spurious: true, verdict: Over, text: "FAILED: 2 over"},
		"racy and over":                  {runs: []Count{{Allowed: 29}}, racy: true, verdict: Over, ok: true, text: "racy: 19 over"},
		"racy and exact":                 {runs: []Count{exact}, racy: true, verdict: Exact, ok: true, text: "racy, but not caught"},
		"errors":                         {runs: []Count{{Allowed: 9, Errors: 1, Error: "gone"}}, verdict: Undecided, text: "undecided: 1 workers stopped at an error: gone"},
		"over in spite of errors":        {runs: []Count{{Allowed: 11, Errors: 1, Error: "gone"}}, verdict: Over, text: "FAILED: 1 over"},
		"errors of a racy one":           {runs: []Count{{Errors: 1, Error: "gone"}}, racy: true, verdict: Undecided, text: "undecided: 1 workers stopped at an error: gone"},
		"ended before the first run":     {err: "gone", verdict: Undecided, text: "undecided: gone"},
		"ended after an exact run":       {runs: []Count{exact}, err: "gone", verdict: Undecided, text: "undecided: gone"},
		"time freed a place, and over":   {runs: []Count{{Allowed: 11, PlaceFreed: true}}, verdict: Undecided, text: "undecided: time freed a place in each of 1 attempts: want a longer window or fewer requests"},
		"over beside one with freed one": {runs: []Count{{Allowed: 11, PlaceFreed: true}, {Allowed: 12}}, verdict: Over, text: "FAILED: 2 over"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Result{ExpectedMax: 10, Runs: c.runs, Error: c.err, Exactness: weir.Plan{Racy: c.racy, Spurious: c.spurious}.Exactness()}
			r.judge()
			require.Equal(t, c.verdict, r.Verdict)
			require.Equal(t, c.ok, r.OK())
			require.Equal(t, c.text, r.String())
		})
	}
}

func TestSpansOfRuns(t *testing.T) {
	r := Result{ExpectedMax: 10, Runs: []Count{{Allowed: 12, Denied: 88, Restarts: 1}, {Allowed: 9, Denied: 91, Restarts: 2}}}
	for want, of := range map[[2]int64]func() (int64, int64){{9, 12}: r.Allowed, {88, 91}: r.Denied, {0, 2}: r.Excess} {
		least, most := of()
		require.Equal(t, want, [2]int64{least, most})
	}
	require.Equal(t, 3, r.Restarts())
}
