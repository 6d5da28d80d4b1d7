package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store/memory"
)

var (
	// wide is never reached, so what is left tells how many decisions were counted. Its window is so
	// long that nothing refills meanwhile.
	wide = weir.Limit{Count: 20_000, Window: 20 * 24 * time.Hour}
	// tight is reached before the fault strikes, and must hold through it.
	tight = weir.Limit{Count: 20, Window: wide.Window}
	// brief shows that nobody is locked out for longer than a window.
	brief = weir.Limit{Count: 5, Window: 500 * time.Millisecond}
)

// The phases of a test, by which outcomes are counted.
const (
	before = iota
	during
	after
	phases
)

// subject is one limiter and key that the callers ask for.
type subject struct {
	name    string
	limit   weir.Limit
	plain   *weir.Weir
	limiter weir.Limiter // plain, or plain under a guard
	policy  string       // of the guard, or empty
	key     string

	outcomes [phases]outcomes
	relieved atomic.Int64 // admitted by what a guard falls back to
}

// outcomes are what callers were told. Where a guard stood in for the store, the store failed.
type outcomes struct{ allowed, denied, failed atomic.Int64 }

// allowed, failed and answered count the outcomes of all phases.
func (s *subject) allowed() int64 {
	return s.sum(func(o *outcomes) int64 { return o.allowed.Load() })
}

func (s *subject) failed() int64 {
	return s.sum(func(o *outcomes) int64 { return o.failed.Load() })
}

func (s *subject) answered() int64 {
	return s.sum(func(o *outcomes) int64 { return o.allowed.Load() + o.denied.Load() })
}

func (s *subject) sum(of func(*outcomes) int64) (n int64) {
	for i := range s.outcomes {
		n += of(&s.outcomes[i])
	}
	return n
}

// take asks once, and returns what was wrong with the answer, if anything.
func (s *subject) take(ctx context.Context, phase int, r row) (failed bool, wrong error) {
	d, err := s.limiter.Take(ctx, s.key, 1)
	cause := err
	if d.Degraded {
		cause = d.Cause()
	}
	o := &s.outcomes[phase]
	if cause != nil {
		o.failed.Add(1)
		return true, s.judge(d, err, cause, r)
	}
	if d.Allowed {
		o.allowed.Add(1)
		return false, nil
	}
	o.denied.Add(1)
	switch {
	case d.RetryAfter <= 0 || d.RetryAfter > s.limit.Window:
		return false, fmt.Errorf("%s: denied, to try again in %v: want above 0 and at most the window", s.name, d.RetryAfter)
	case s.limit == wide:
		return false, fmt.Errorf("%s: denied, although the limit is not reached", s.name)
	}
	return false, nil
}

// judge checks what a caller is told when the store cannot answer.
func (s *subject) judge(d weir.Decision, err, cause error, r row) error {
	if k := kind(cause); !slices.Contains(r.Sees, k) {
		return fmt.Errorf("%s: %s: want %q: %w", s.name, k, r.Sees, cause)
	}
	degraded := s.policy == "open" || s.policy == "fallback"
	switch {
	case d.Degraded != degraded, degraded && err != nil:
		return fmt.Errorf("%s: %+v and %w: want a degraded decision only from a policy that decides", s.name, d, err)
	case !strings.Contains(cause.Error(), "weir: "):
		return fmt.Errorf("%s: %w: want an error that names what failed", s.name, cause)
	case s.policy == "open" && !d.Allowed:
		return fmt.Errorf("%s: denied by a guard that fails open", s.name)
	case s.policy == "closed" && !errors.Is(err, weir.ErrUnavailable):
		return fmt.Errorf("%s: %w: want ErrUnavailable", s.name, err)
	case s.policy == "" && d != (weir.Decision{}):
		return fmt.Errorf("%s: decision %+v beside the error %w", s.name, d, err)
	}
	if s.policy == "fallback" && d.Allowed {
		s.relieved.Add(1)
	}
	return nil
}

// newSubjects returns every algorithm that the row's store can run, under each limit and on each
// handle of the store, and the three policies.
func newSubjects(t *testing.T, r row, handles []handle) (all []*subject) {
	run := []weir.Algorithm{algorithms.GCRA(nil), algorithms.FixedWindow()}
	if r.Store == "redis" {
		// With a coarser tick it may let a client wait for one tick more than a window.
		packed := algorithms.PackedLog(&algorithms.PackedLogOptions{Tick: time.Microsecond})
		run = append(run, algorithms.SlidingLog(), packed, algorithms.RingLog(nil))
	}
	add := func(h handle, a weir.Algorithm, limit weir.Limit, policy string) *subject {
		l, err := weir.New(a, limit, h.store, &weir.Options{Prefix: h.name})
		require.NoError(t, err)
		s := &subject{
			name:  strings.TrimSpace(fmt.Sprintf("%s, %v, %s %s", a.Name(), limit, h.name, policy)),
			limit: limit, plain: l, limiter: l, policy: policy, key: limit.String() + policy,
		}
		all = append(all, s)
		return s
	}
	for _, h := range handles {
		for _, a := range run {
			for _, limit := range []weir.Limit{wide, tight, brief} {
				add(h, a, limit, "")
			}
		}
	}
	opts := &weir.GuardOptions{Timeout: patience, Pause: 50 * time.Millisecond}
	if d := r.deadline(); d > 0 {
		opts.Timeout = d
	}
	own := memory.New(nil)
	t.Cleanup(func() { require.NoError(t, own.Close()) })
	to, err := weir.New(run[0], tight, own, nil)
	require.NoError(t, err)
	for policy, guard := range map[string]func(weir.Limiter) *weir.Guard{
		"open":     func(l weir.Limiter) *weir.Guard { return weir.FailOpen(l, opts) },
		"closed":   func(l weir.Limiter) *weir.Guard { return weir.FailClosed(l, opts) },
		"fallback": func(l weir.Limiter) *weir.Guard { return weir.FallBack(l, to, opts) },
	} {
		s := add(handles[0], run[0], wide, policy)
		s.limiter = guard(s.plain)
	}
	return all
}
