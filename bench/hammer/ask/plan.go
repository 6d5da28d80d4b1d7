package ask

import (
	"fmt"
	"time"
)

// shot is requests of a client, sent at once or one after another.
type shot struct {
	after  time.Duration // since the experiment's beginning
	n      int64
	serial bool
	wait   bool // instead of after: as long as the last denial asked for
}

// experiment is what one client does, who has sent nothing for a while.
type experiment struct {
	name  string
	phase time.Duration // of its beginning in a window aligned to the epoch
	shots []shot
}

// length is how long the experiment takes, if answers come at once.
func (e experiment) length(window time.Duration) time.Duration {
	var last time.Duration
	for _, s := range e.shots {
		if s.wait {
			last += longestWait(window)
		}
		last = max(last, s.after)
	}
	return last
}

func (e experiment) requests() (n int64) {
	for _, s := range e.shots {
		n += s.n
	}
	return n
}

// longestWait is the longest Retry-After that is put to the test: windows are told in whole seconds, rounded up.
func longestWait(window time.Duration) time.Duration { return window + time.Second }

// probes is into how many parts of a window the questions of one who does not wait divide it.
const probes = 8

// plan is the experiments that tell algorithms apart and put promises to the test. full is what saturates.
func plan(c *Config, full int64, phases int) (all []experiment) {
	w, limit := c.Limit.Window, c.Limit.Count
	near := w / 16
	shift := func(i, of int) time.Duration { return w*time.Duration(i)/time.Duration(of) + w/32 }

	// After a full burst: when does how much come back?
	for i := range phases {
		e := experiment{name: fmt.Sprintf("a burst at %d/%d of a window, then one now and then", i, phases), phase: shift(i, phases)}
		e.shots = append(e.shots, shot{n: full})
		for j := 1; j <= probes+2; j++ {
			e.shots = append(e.shots, shot{after: w * time.Duration(j) / probes, n: 1})
		}
		e.shots = append(e.shots, shot{after: w + 3*w/probes, n: limit + 1})
		all = append(all, e)
	}
	// Half, then the other half later: is it the first or each that is forgotten a window later?
	for i := range phases {
		all = append(all, experiment{
			name: fmt.Sprintf("half of it at %d/%d of a window, the rest later", i, phases), phase: shift(2*i+1, 2*phases),
			shots: []shot{{n: max(1, limit/2)}, {after: w / 2, n: full}, {after: w + w/4, n: limit + 1}},
		})
	}
	return append(
		all,
		experiment{
			name: "a burst before and after a boundary", phase: w - near,
			shots: []shot{{n: limit + 1}, {after: 2 * near, n: limit + 1}},
		},
		experiment{
			name: "a burst before and after a window since the first request", phase: w / 3,
			shots: []shot{{n: 1}, {after: w - near, n: limit}, {after: w + near, n: limit + 1}},
		},
		steady(c.Limit.Count, w, full),
		experiment{
			name: waiting, phase: w / 5,
			shots: []shot{{n: full}, {wait: true, n: 1}, {n: full}, {wait: true, n: 1}},
		},
		experiment{name: oneByOne, phase: w / 4, shots: []shot{{n: full, serial: true}}},
		experiment{name: oneByOne, phase: w / 2, shots: []shot{{n: full, serial: true}}},
		experiment{name: oneByOne, phase: 3 * w / 4, shots: []shot{{n: full, serial: true}}},
	)
}

// The experiments that are read for more than the algorithm.
const (
	inOneBurst = "a burst"
	atTheRate  = "a burst, then steadily at the limit's rate"
	waiting    = "a burst, then waiting as told"
	oneByOne   = "one by one"
)

// mostSteady is how many requests in a window a steady client sends at most.
const mostSteady = 25

func steady(limit int64, w time.Duration, full int64) experiment {
	e := experiment{name: atTheRate, phase: w / 7, shots: []shot{{n: full}}}
	n := min(limit, mostSteady)
	each := w / time.Duration(n)
	for j := range 2 * n {
		// A little later than the rate, so that what came back is there.
		e.shots = append(e.shots, shot{after: each*time.Duration(j+1) + each/4, n: max(1, limit/n)})
	}
	return e
}
