package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// check is one rule and how to try it.
type check struct {
	name, rule string
	needs      store.Capability // what the check is about
	waits      bool             // most of it is waiting
	run        func(ctx context.Context, p *probe) error
}

// suite is a run of all checks on one store.
type suite struct {
	cfg    Config
	st     store.Store
	checks []check
	dead   atomic.Bool // the store no longer answers

	early   map[int]func() Result // of the checks that were begun first
	waiting sync.WaitGroup
}

func newSuite(ctx context.Context, cfg Config) (*suite, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	st, err := cfg.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("conformance: open: %w", err)
	}
	s := &suite{cfg: cfg, st: st, early: map[int]func() Result{}}
	s.checks = append(s.storeChecks(), limiterChecks(st, cfg.Algorithms)...)
	for name := range cfg.Skip {
		if !s.knows(name) {
			return nil, errors.Join(fmt.Errorf("conformance: Skip: %q: want a check's name, the part of one before a slash, or * and its end", name), s.close())
		}
	}
	return s, nil
}

func (s *suite) storeChecks() []check {
	var all []check
	for _, list := range [][]check{
		traitChecks, storeChecks, counterChecks, swapChecks, listChecks, sortedSetChecks,
		scriptChecks, clockChecks, footprintChecks,
	} {
		all = append(all, list...)
	}
	return all
}

// covers reports whether a key of Skip names the check.
func covers(key, name string) bool {
	if end, ok := strings.CutPrefix(key, "*"); ok {
		return strings.HasSuffix(name, end)
	}
	return name == key || strings.HasPrefix(name, key+"/")
}

func (s *suite) knows(key string) bool {
	for _, c := range s.checks {
		if covers(key, c.name) {
			return true
		}
	}
	return false
}

// waiters is how many checks wait at a time.
const waiters = 64

// begin starts the checks that wait, so that they wait together.
func (s *suite) begin(ctx context.Context) {
	if s.cfg.Time != nil {
		return // simulated time passes for all at once, so each has it alone
	}
	room := make(chan struct{}, waiters)
	for i, c := range s.checks {
		if !c.waits {
			continue
		}
		done := make(chan Result, 1)
		s.early[i] = sync.OnceValue(func() Result { return <-done })
		s.waiting.Add(1)
		go func() {
			defer s.waiting.Done()
			room <- struct{}{}
			defer func() { <-room }()
			done <- s.try(ctx, i)
		}()
	}
}

// result runs a check, or waits for one that was begun before.
func (s *suite) result(ctx context.Context, i int) Result {
	if early := s.early[i]; early != nil {
		return early()
	}
	return s.try(ctx, i)
}

// try runs a check to its verdict.
func (s *suite) try(ctx context.Context, i int) Result {
	c := s.checks[i]
	r := Result{Check: c.name, Rule: c.rule, Seed: s.cfg.Seed}
	started := time.Now()
	r.Status, r.Detail, r.History = s.decide(ctx, i)
	r.Elapsed = time.Since(started)
	return r
}

func (s *suite) decide(ctx context.Context, i int) (Status, string, []string) {
	c := s.checks[i]
	for key, reason := range s.cfg.Skip {
		if covers(key, c.name) {
			return Skipped, reason, nil
		}
	}
	claimed, has := s.st.Traits().Capabilities.Has(c.needs), store.Implemented(s.st).Has(c.needs)
	switch {
	case s.dead.Load():
		return Error, "not tried: the store no longer answers", nil
	case !claimed && !has:
		return Unsupported, "the store has no " + c.needs.String(), nil
	case !has:
		return Fail, fmt.Sprintf("the traits claim %s, which is not implemented", c.needs), nil
	}
	p := s.probe(i)
	checkCtx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	err := guarded(checkCtx, func() error { return c.run(checkCtx, p) })
	p.cleanup(ctx)
	if err == nil {
		return Pass, "", nil
	}
	return s.verdict(checkCtx, err)
}

// stubborn is how long after its deadline a check may still return.
const stubborn = 2 * time.Second

// guarded runs a check. It leaves it behind where a call does not return, and turns a
// panic into a broken rule.
func guarded(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- recovered(run) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	t := time.NewTimer(stubborn)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return failf("a call did not return %v after its context was done", stubborn)
	}
}

func recovered(run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = failf("panic: %v", r)
		}
	}()
	return run()
}

// verdict tells apart what an error means. A store that no longer answers breaks
// rules that it would keep, so that is asked first.
func (s *suite) verdict(ctx context.Context, err error) (Status, string, []string) {
	v := verdictOf(err)
	if v != nil && v.status < OverClaimed {
		return v.status, v.text, v.history
	}
	if gone := s.gone(ctx); gone != nil {
		s.dead.Store(true)
		return Error, fmt.Sprintf("the store no longer answers: %v", gone), nil
	}
	if v != nil {
		return v.status, v.text, v.history
	}
	if ctx.Err() != nil {
		return Inconclusive, fmt.Sprintf("not finished within %v", s.cfg.Deadline), nil
	}
	return Fail, fmt.Sprintf("an error where the contract wants none: %v", err), nil
}

// gone asks whether the store still answers, and returns its error if not.
func (s *suite) gone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return guarded(ctx, func() error { return s.st.Delete(ctx, s.cfg.Prefix+"/none") })
}

// close waits for what was begun, and closes the store unless it is the caller's.
func (s *suite) close() error {
	s.waiting.Wait()
	if s.cfg.KeepOpen {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Deadline)
	defer cancel()
	if err := guarded(ctx, s.st.Close); err != nil {
		return fmt.Errorf("conformance: close: %w", err)
	}
	return nil
}

func (s *suite) closing(err error) Result {
	r := Result{Check: "store/close", Rule: "Close gives no error", Status: Fail, Detail: err.Error(), Seed: s.cfg.Seed}
	if s.dead.Load() {
		r.Status = Error
	}
	return r
}

func (s *suite) newReport() *Report {
	r := &Report{
		Version: ReportVersion, Store: s.st.Traits().Name, Traits: s.st.Traits(), Weir: "(devel)",
		Go: runtime.Version(), Seed: s.cfg.Seed, Effort: s.cfg.Effort, Started: time.Now().UTC(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		const module = "github.com/weirlimits/weir"
		if info.Main.Path == module && info.Main.Version != "" {
			r.Weir = info.Main.Version
		}
		for _, m := range info.Deps {
			if m.Path == module {
				r.Weir = m.Version
			}
		}
	}
	return r
}

// probe returns what the check works with.
func (s *suite) probe(i int) *probe {
	h := fnv.New64a()
	h.Write([]byte(s.checks[i].name))
	p := &probe{
		suite: s, st: s.st, prefix: s.cfg.Prefix + "-" + strconv.FormatInt(int64(i), 36),
		rng: rand.New(rand.NewPCG(s.cfg.Seed, h.Sum64())), time: s.cfg.Time, keys: map[string]struct{}{},
	}
	if p.time == nil {
		p.time = realTime{}
	}
	return p
}
