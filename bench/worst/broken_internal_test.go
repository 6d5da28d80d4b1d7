package worst

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/store"
)

// altered is an algorithm whose step someone got wrong.
type altered struct {
	weir.Algorithm
	wrong func(step store.Func, state []byte, a store.Args) store.Result
}

func (a altered) Shape(l weir.Limit) (weir.Shape, error) {
	shape, err := a.Algorithm.Shape(l)
	if err != nil {
		return shape, err
	}
	step, params, err := stepOf(a.Algorithm, shape)
	shape.Plans = []weir.Plan{weir.ScriptPlan(&store.Step{
		Name: step.Name,
		Func: func(state []byte, args store.Args) store.Result { return a.wrong(step.Func, state, args) },
	}, params, 0)}
	return shape, err
}

func TestBrokenStepsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		of    weir.Algorithm
		wrong func(step store.Func, state []byte, a store.Args) store.Result
		want  string
	}{
		"one too many at one instant of many": {
			of: algorithms.SlidingLog(),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				if a.Cost == 2 {
					a.Params = []int64{a.Params[0] + 1, a.Params[1], a.Params[2]}
				}
				return step(state, a)
			},
			want: "max in window: declared 3, found 4",
		},
		"a window that is closed at both ends": {
			of: algorithms.SlidingLog(),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				a.Params = []int64{a.Params[0], a.Params[1] + 1, a.Params[2]}
				return step(state, a)
			},
			want: "deficit: declared 0, found 3",
		},
		"a window that is a tick short": {
			of: algorithms.FixedWindowFirstHit(),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				a.Params = []int64{a.Params[0], a.Params[1] - 1}
				return step(state, a)
			},
			want: "max in window: declared 5, found 6",
		},
		"a TTL that is too short": {
			of: algorithms.GCRA(nil),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				res := step(state, a)
				res.TTL--
				return res
			},
			want: "a TTL of 1us ends a state that matters for 2us",
		},
		"a reset that is told too early": {
			of: algorithms.GCRA(nil),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				res := step(state, a)
				res.Reply.ResetAfter = max(res.Reply.ResetAfter-1, 0)
				return res
			},
			want: "a state with no time left to its reset still matters",
		},
		"a state that it does not read": {
			of: algorithms.GCRA(nil),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				res := step(state, a)
				if res.State != nil {
					res.State = append(res.State, 0)
				}
				return res
			},
			want: "the step does not read a state that it wrote",
		},
		"a peek that writes": {
			of: algorithms.GCRA(nil),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				res := step(state, a)
				if a.Cost == 0 {
					res.State = append([]byte{}, state...)
				}
				return res
			},
			want: "a peek writes",
		},
		"a denial without a time to come again": {
			of: algorithms.GCRA(nil),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				res := step(state, a)
				res.Reply.RetryAfter = 0
				return res
			},
			want: "garbled reply: allowed=false remaining=2 retry=0",
		},
		"times that are aligned where they should not be": {
			of: algorithms.SlidingLog(),
			wrong: func(step store.Func, state []byte, a store.Args) store.Result {
				if a.Now%5 == 0 {
					a.Params = []int64{a.Params[0], 2, a.Params[2]}
				}
				return step(state, a)
			},
			want: "decides otherwise 1 ticks later",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := altered{c.of, c.wrong}
			r, err := Search(a, 3, 6)
			if err == nil {
				shape, shapeErr := a.Shape(weir.Limit{Count: 3, Window: 6 * time.Microsecond})
				require.NoError(t, shapeErr)
				err = r.Check(shape.Guarantee)
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// What a sequence says happens, as an independent judge counts it.
func TestSequencesAreTrue(t *testing.T) {
	const l, w = 3, 6
	for _, name := range []string{
		"fixed-window", "fixed-window-first-hit", "sliding-counter", "bucketed-window,buckets=3", "gcra", "gcra,burst=2",
		"ring-log", "ring-log,denied=count", "packed-log,block=2", "packed-log,tick=3us",
	} {
		a, err := algorithms.Parse(name)
		require.NoError(t, err)
		r, err := Search(a, l, w)
		require.NoError(t, err)
		m, err := newMachine(a, weir.Limit{Count: l, Window: w * time.Microsecond})
		require.NoError(t, err)
		play := func(steps []Step) oracle.Report {
			judge, state := oracle.NewJudge(l, w), ""
			for _, s := range steps {
				res, err := m.run(state, m.base+s.Time, s.Cost)
				require.NoError(t, err)
				require.Equal(t, s.Allowed, res.Reply.Allowed, "%s: %v", name, steps)
				if res.State != nil {
					state = string(res.State)
				}
				judge.Observe("k", oracle.Observation{Time: m.base + s.Time, Cost: s.Cost, Allowed: s.Allowed, RetryAfter: res.Reply.RetryAfter})
			}
			return judge.Report()
		}
		require.Equal(t, r.MaxInWindow, play(r.MaxSequence).MaxInWindow, name)
		require.Equal(t, r.Deficit, play(r.DeficitSequence).MaxDeficit, name)
	}
}

func TestASearchHasAnEnd(t *testing.T) {
	m := machineOf(t, algorithms.GCRA(nil), weir.Limit{Count: 100, Window: time.Millisecond})
	e := newExplorer(m)
	e.room = 1000
	require.EqualError(t, e.explore(), "out of reach: more than 1000 states: want a smaller limit or window")
}
