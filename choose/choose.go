// Package choose recommends a rate-limit algorithm for a store, a limit and a number of clients, and says why.
//
//	answer, err := choose.For(st.Traits(), choose.Want{
//		Limits:  []weir.Limit{{Count: 100, Window: time.Minute}},
//		Clients: 1_000_000,
//		Memory:  2e9,
//	})
//	fmt.Println(answer.Best.Algorithm, answer.Reason)
//
// The answer follows from what the algorithms declare (their [weir.Shape] and plans), from what the store can do
// (its [store.Traits]), and from what was measured (bytes, speed and precision, kept in model.json). No situation is
// looked up anywhere. The principles, in this order:
//
//  1. The bound: what may admit more than is tolerated is refused, by its declared worst case and not by luck.
//  2. Early denials: likewise. Where nothing is left within both, early denials are tolerated before a higher bound is.
//  3. Memory: what does not fit is refused; of the rest the smallest is best, as expected and then when full.
//     Estimates within a tenth are equal.
//  4. Round trips of an admitted request: fewer are better.
//  5. Speed: decisions per second, where they differ by more than a quarter.
//
// To these comes the burst cage: where a window counter is best although it may admit twice the limit at once, at the
// boundary of two windows, a second, short window is put beside it if the store can decide both together.
package choose

import (
	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// Answer is what is recommended, and all that was weighed. It does not change once made.
type Answer struct {
	Store store.Traits
	Want  Want
	// Best is the recommendation; nil where nothing can run or fit.
	Best *Candidate
	// Reason is why, in two sentences: what Best gives, and what it is traded for.
	Reason string
	// Within tells that Best is within what is tolerated. Where nothing was, the nearest is taken, and Reason says so.
	Within bool
	// Ranked are the candidates that were not refused, best first; Refused are the others, in the order of the tables.
	Ranked, Refused []Candidate
	// Changes say what other stores, tolerances and budgets would change, a line each.
	Changes []string
	// Notes are what must be known to rely on the answer: whose clock rules, what eviction does; a line each.
	Notes []string
}

// Candidate is one algorithm under the wanted limit on the store.
type Candidate struct {
	Algorithm weir.Algorithm // with its options, and with the further layers
	Plan      weir.Plan      // by which the store runs it; its name is empty where it cannot
	// Refused is why it is not to be taken, with the figure: "needs script", "12 GB of 2 GB"; empty if it may be.
	Refused string

	MaxInWindow int64   // declared: the most that any window can see admitted
	Over        float64 // of it beyond the limit, as a part of the limit
	// Deny is the worst early denial that is declared: the part of the limit that may be free, or, where such a denial
	// is bounded in time, the part of the window for which it lasts; whichever is less.
	Deny   float64
	Trips  int     // round trips of an admitted request, for all of its keys
	Bytes  Bytes   // estimated, of one client, for all of its keys
	Speed  Speed   // measured; zero where nobody measured it
	Errors *Errors // seen, on the caller's traffic or in the generated scenarios; nil where nobody looked

	single   weir.Algorithm // without further layers
	needs    refusalKind    // of Refused
	position int            // in the order of the tables
}

// Bytes are what one client takes.
type Bytes struct {
	Full     float64 // of a client that has just used its whole limit, evenly spread
	Expected float64 // of the average of Want.Held; Full where that is empty
	Error    float64 // by how much both may be off, as a part
	Partly   bool    // of a store that nobody measured: no more than key and value
}

// Speed is decisions per second of 64 callers, measured on one machine that client and server shared: good to compare,
// and no promise.
type Speed struct {
	PerSecond float64 // each a round trip of its own
	Gathered  float64 // callers share round trips, as they do on Redis by default; zero elsewhere
}

// Errors are parts of all requests.
type Errors struct {
	Over     float64 `json:"over"`     // admitted although the limiter's own history was full
	Denied   float64 `json:"denied"`   // denied although it was not
	Admitted float64 `json:"admitted"` // as a part of what an exact log admits of the same requests
}

// Total returns the bytes of all clients, each by Expected.
func (a *Answer) Total(c Candidate) float64 { return c.Bytes.Expected * float64(a.Want.Clients) }

// For answers for a store of these traits; those of a [store.Store] are its Traits, and [Named] describes the stores of
// this module. It makes no round trip. Its error is a [weir.FieldError] that names the wrong field of want.
func For(t store.Traits, want Want) (*Answer, error) {
	want = want.withDefaults()
	if err := want.check(); err != nil {
		return nil, err
	}
	s, err := newScale()
	if err != nil {
		return nil, err
	}
	a, err := s.answer(t, want)
	if err != nil {
		return nil, err
	}
	a.Reason = a.reason()
	a.Notes = a.notes(s.model)
	a.Changes, err = a.changes(s)
	return a, err
}

// answer decides, without words.
func (s *scale) answer(t store.Traits, want Want) (*Answer, error) {
	a := &Answer{Store: t, Want: want}
	all := candidates(want)
	for i := range all {
		all[i].position = i
		if err := s.weigh(&all[i], t, want); err != nil {
			return nil, err
		}
	}
	a.rank(all)
	return a, nil
}
