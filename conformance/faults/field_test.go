package faults_test

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/store"
)

const (
	callers = 64
	// patience is for what must not take long: only what hangs reaches it.
	patience = 30 * time.Second
)

// field is a server under load, and what its callers were told.
type field struct {
	t        *testing.T
	row      row
	server   *server.Server
	addr     string   // of the server, which keeps it when it is started again
	way      *way     // to the server, or nil where they reach it without one
	handles  []handle // on the server
	subjects []*subject
	losses   int64 // how often the server lost what it held
	executes bool  // what fails has been counted by the server

	phase atomic.Int32
	wrong atomic.Pointer[error] // the first answer that nobody may get
}

// handle is a way to use the server.
type handle struct {
	name   string
	store  store.Store
	client io.Closer // of the caller's own, or nil
}

// under runs f while the callers ask, and returns when all of them have their answers.
func (f *field) under(phase int32, deadline time.Duration, run func()) {
	f.phase.Store(phase)
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	for i := range callers {
		group.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				f.ask(f.subjects[n%len(f.subjects)], deadline)
			}
		})
	}
	run()
}

func (f *field) ask(s *subject, deadline time.Duration) {
	if deadline == 0 || s.policy != "" { // a guard has a timeout of its own
		deadline = patience
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	failed, wrong := s.take(ctx, int(f.phase.Load()), f.row)
	if wrong != nil {
		f.wrong.CompareAndSwap(nil, &wrong)
	}
	if failed {
		time.Sleep(time.Millisecond) // as a caller would; the server needs the processor too
	}
}

// await waits until the condition holds for each of those subjects. More than a few callers may be
// on their way meanwhile, so it is about what they were told and not about time.
func (f *field) await(what string, which func(*subject) bool, holds func(*subject) bool) {
	f.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		var lacks *subject
		for _, s := range f.subjects {
			if which(s) && !holds(s) {
				lacks = s
				break
			}
		}
		if err := f.wrong.Load(); err != nil {
			require.NoError(f.t, *err, what)
		}
		if lacks == nil {
			return
		}
		require.True(f.t, time.Now().Before(deadline), "%s: %s waited for too long", what, lacks.name)
	}
}

func all(*subject) bool       { return true }
func isWide(s *subject) bool  { return s.limit == wide }
func isTight(s *subject) bool { return s.limit == tight }

// awaitFailures waits until each of those subjects failed at least once more.
func (f *field) awaitFailures(which func(*subject) bool) {
	f.t.Helper()
	seen := map[*subject]int64{}
	for _, s := range f.subjects {
		seen[s] = s.failed()
	}
	f.await("a failure", which, func(s *subject) bool { return s.failed() > seen[s] })
}

// awaitAnswers waits until each subject was answered n more times.
func (f *field) awaitAnswers(n int64) {
	f.t.Helper()
	seen := map[*subject]int64{}
	for _, s := range f.subjects {
		seen[s] = s.answered()
	}
	f.await("an answer", all, func(s *subject) bool { return s.answered() >= seen[s]+n })
}

// awaitMoreThanTheLimit waits until each tight subject shows that what was admitted is forgotten.
func (f *field) awaitMoreThanTheLimit() {
	f.t.Helper()
	f.await("an admission beyond the limit", isTight, func(s *subject) bool { return s.allowed() > tight.Count })
}

// replay runs the whole test: before, during and after the fault.
// connected tells how many connections the server has, the one that asks included.
func (f *field) replay(strike func(*field), connected func() int) {
	t := f.t
	exhausted := func(s *subject) bool { return s.outcomes[f.phase.Load()].denied.Load() > 0 }
	f.under(before, 0, func() {
		f.await("an admission", all, func(s *subject) bool { return s.outcomes[before].allowed.Load() >= 5 })
		f.await("the limit", isTight, exhausted)
	})
	f.under(during, f.row.deadline(), func() { strike(f) })
	over := time.Now()
	for seen := int64(-1); seen != f.failuresAfter(); {
		require.Less(t, time.Since(over), f.row.returns()+patience/3, "until nobody sees errors any more")
		seen = f.failuresAfter()
		f.under(after, 0, func() {
			f.awaitAnswers(3)
			f.await("the limit again", isTight, exhausted)
		})
	}
	f.verdict()
	f.nobodyIsLockedOut()
	for _, h := range f.handles {
		require.NoError(t, h.store.Close())
		if h.client != nil {
			require.NoError(t, h.client.Close())
		}
	}
	for deadline := time.Now().Add(patience); connected() > 1; time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "connections are left over: %d", connected())
	}
}

// failuresAfter is how often callers without a guard failed after the fault.
func (f *field) failuresAfter() (n int64) {
	for _, s := range f.subjects {
		if s.policy == "" {
			n += s.outcomes[after].failed.Load()
		}
	}
	return n
}

// verdict holds what was told against what is counted.
func (f *field) verdict() {
	t := f.t
	if err := f.wrong.Load(); err != nil {
		require.NoError(t, *err)
	}
	if f.row.Normal == atOnce {
		require.Zero(t, f.failuresAfter(), "failures after the fault")
	}
	failures, uncertain, beyond := int64(0), int64(0), false
	for _, s := range f.subjects {
		allowed, failed := s.allowed(), s.failed()
		failures += s.outcomes[during].failed.Load()
		if f.row.Deadline == "" || s.policy == "" { // a tight timeout may pass on a busy machine
			require.Zero(t, s.outcomes[before].failed.Load(), "%s: failed before the fault", s.name)
		}
		require.LessOrEqual(t, s.relieved.Load(), tight.Count, "%s: what the fallback admitted", s.name)
		switch s.limit {
		case wide:
			counted := f.counted(s)
			uncertain += counted - allowed
			require.LessOrEqual(t, counted, allowed+failed, "%s: counted more often than asked", s.name)
			if f.losses == 0 {
				require.GreaterOrEqual(t, counted, allowed, "%s: admitted and not counted", s.name)
			}
			if f.row.Under == none {
				require.LessOrEqual(t, counted, allowed, "%s: counted and not admitted", s.name)
			}
		case tight:
			require.LessOrEqual(t, allowed, tight.Count*(1+f.losses), "%s: admitted beyond the limit", s.name)
			require.GreaterOrEqual(t, allowed+failed, tight.Count, "%s: denied with places left", s.name)
			if f.row.Under == none {
				require.GreaterOrEqual(t, allowed, tight.Count, "%s: denied with places left", s.name)
			}
			beyond = beyond || allowed > tight.Count
		}
	}
	require.Equal(t, len(f.row.Sees) > 0, failures > 0, "%d failures during the fault", failures)
	require.Equal(t, f.row.Over == afresh, f.losses > 0, "%d losses", f.losses)
	require.Equal(t, f.row.Over == afresh, beyond, "whether some limit began afresh")
	if f.executes {
		require.Positive(t, uncertain, "the server counted nothing of what failed, so this proved nothing")
	}
}

// counted is how many decisions the server has counted for the subject.
func (f *field) counted(s *subject) int64 {
	d, err := s.plain.Peek(f.t.Context(), s.key)
	require.NoError(f.t, err, s.name)
	return s.limit.Count - d.Remaining
}

// nobodyIsLockedOut checks that a client who waits for a window is admitted.
func (f *field) nobodyIsLockedOut() {
	var group sync.WaitGroup
	defer group.Wait()
	for _, s := range f.subjects {
		if s.limit != brief {
			continue
		}
		group.Go(func() {
			wait := time.Duration(0)
			for tries := 0; ; tries++ {
				time.Sleep(wait)
				d, err := s.limiter.Take(context.Background(), s.key, 1)
				switch {
				case err != nil, tries > 0 && !d.Allowed:
					f.t.Errorf("%s: %+v, %v: want to be admitted after the %v it was told", s.name, d, err, wait)
					return
				case d.Allowed:
					return
				}
				if wait = d.RetryAfter; wait > brief.Window {
					f.t.Errorf("%s: told to wait for %v", s.name, wait)
					return
				}
			}
		})
	}
}

const lateness = 300 // milliseconds

// late lets replies come later than callers like, but not later than they wait.
func (f *field) late() {
	f.way.worsen("latency", map[string]int{"latency": lateness})
	f.awaitAnswers(2)
	f.way.mend("latency")
}

// tooLate lets them come later than callers wait.
func (f *field) tooLate() {
	f.way.worsen("latency", map[string]int{"latency": lateness})
	f.awaitFailures(all)
	f.way.mend("latency")
}
