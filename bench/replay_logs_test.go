package bench_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/trace"
	"github.com/weirlimits/weir/internal/backend"
)

// Access logs of the kinds that parsers were reported to drop, made here line by line.

func logLine(client string, at time.Time) string {
	return client + " - - [" + at.Format("02/Jan/2006:15:04:05 -0700") + "] \"GET /history/ HTTP/1.0\" 200 6245\n"
}

// RL-127: of a log like that of a public site in 1995 every event is read, whether the client is an
// address or a name, and names may look like anything.
func TestRL127NamesAreClients(t *testing.T) {
	const events, clients, named = 30_969, 2_365, 1_663
	name := func(i int) string {
		switch {
		case i >= named:
			return fmt.Sprintf("198.51.%d.%d", i/250, i%250)
		case i == 0:
			return "192.0.2.13.scanner.example"
		case i%100 == 0:
			return fmt.Sprintf("vax%d", i) // one label
		default:
			return fmt.Sprintf("dip-%d.dialup_%d.example.edu", i, i%7)
		}
	}
	at := time.Date(1995, 7, 1, 0, 0, 0, 0, time.FixedZone("", -4*3600))
	var log strings.Builder
	for i := range events { // each client once, and then some of them again and again
		client := i
		if i >= clients {
			client = i * i % clients
		}
		log.WriteString(logLine(name(client), at.Add(time.Duration(i)*2*time.Second)))
	}
	tr, err := trace.Read(strings.NewReader(log.String()), "log", nil)
	require.NoError(t, err)
	require.Len(t, tr.Events, events)
	require.Zero(t, tr.Bad+tr.Late+tr.Unmatched, tr.FirstBad)
	require.Equal(t, clients, tr.Keys)
	r := replay(t, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithm(t, "sliding-log")},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "5/1m"), Events: tr.Events,
	})
	require.EqualValues(t, events, r.Results[0].Events)
	require.Equal(t, clients, r.Results[0].Keys)
}

// RL-129: a log that is half out of order and names only one minute of each hour is sorted, its steps
// back are counted, and nobody is told to wait for less than nothing.
func TestRL129UnorderedTimes(t *testing.T) {
	const lines = 10_000
	random := rand.New(rand.NewPCG(129, 129))
	at := time.Date(2015, 5, 17, 10, 5, 0, 0, time.UTC)
	var log strings.Builder
	var last time.Time
	backward := 0
	for i := range lines {
		now := at.Add(time.Duration(i/120)*time.Hour + time.Duration(random.IntN(60))*time.Second)
		if now.Before(last) {
			backward++
		}
		last = now
		log.WriteString(logLine(fmt.Sprintf("203.0.113.%d", i%50), now))
	}
	require.InDelta(t, lines/2, backward, lines/20, "half of them, as in the log of the case")
	tr, err := trace.Read(strings.NewReader(log.String()), "log", nil)
	require.NoError(t, err)
	require.Len(t, tr.Events, lines)
	require.Equal(t, backward, tr.Backward)
	denied := 0
	r := replay(t, bench.ReplayConfig{
		Algorithms: []weir.Algorithm{algorithm(t, "gcra"), algorithm(t, "sliding-counter"), algorithm(t, "packed-log")},
		Backends:   []*backend.Backend{open(t, "memory:")}, Limit: limit(t, "1/1m"), Events: tr.Events,
		Decision: func(d bench.Decided) error {
			require.GreaterOrEqual(t, d.Decision.RetryAfter, time.Duration(0))
			require.GreaterOrEqual(t, d.Decision.ResetAfter, time.Duration(0))
			require.Equal(t, d.Decision.Allowed, d.Decision.RetryAfter == 0)
			if !d.Decision.Allowed {
				denied++
			}
			return nil
		},
	})
	require.Empty(t, r.Incomplete)
	require.Positive(t, denied)
}
