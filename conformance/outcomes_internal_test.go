package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// onFaulty is a config for a store that wreck made faulty, in simulated time.
func onFaulty(wreck func(f *faulty)) Config {
	clock := newSimulatedTime()
	return Config{
		Open: func(context.Context) (store.Store, error) {
			f := &faulty{inner: memory.New(&memory.Options{Clock: clock.Now})}
			wreck(f)
			return f, nil
		},
		Algorithms: []weir.Algorithm{newBrokenLog("")},
		Time:       clock,
		Prefix:     "test",
	}
}

func find(t *testing.T, r *Report, name string) Result {
	t.Helper()
	for _, one := range r.Results {
		if one.Check == name {
			return one
		}
	}
	require.Fail(t, "no result", name)
	return Result{}
}

// hiding is a wrapper that claims what it hides: it has the methods of store.Store alone.
type hiding struct{ store.Store }

func TestClaimedButHidden(t *testing.T) {
	cfg := onFaulty(func(*faulty) {})
	open := cfg.Open
	cfg.Open = func(ctx context.Context) (store.Store, error) {
		st, err := open(ctx)
		return hiding{st}, err
	}
	r, err := Check(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, Fail, find(t, r, "traits/declared").Status)
	require.Equal(t, Fail, find(t, r, "counter/atomic").Status, "claimed, so it is not unsupported")
	require.Equal(t, Fail, r.Status())
	require.ErrorContains(t, r.Err(), "traits/declared: fail")
}

func TestNothingLeftBehind(t *testing.T) {
	left := -1
	cfg := onFaulty(func(f *faulty) {
		f.shut = func() error {
			left = f.inner.Keys() // the one that is closed last is the one that is checked
			return f.inner.Close()
		}
	})
	cfg.Skip = map[string]string{"store/closed": "it would count the keys of another store"}
	r, err := Check(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, r.Err())
	require.Equal(t, Skipped, find(t, r, "store/closed").Status)
	require.Contains(t, find(t, r, "store/closed").Detail, "another store")
	require.Zero(t, left, "keys left behind")
}

// dying answers so many additions, and then nothing any more.
func dying(answers int64) func(f *faulty) {
	down := errors.New("connection refused")
	var asked atomic.Int64
	return func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			if asked.Add(1) > answers {
				return 0, down
			}
			return f.inner.Add(ctx, key, delta, ttl)
		}
		f.delete = func(ctx context.Context, keys ...string) error {
			if asked.Load() > answers {
				return down
			}
			return f.inner.Delete(ctx, keys...)
		}
	}
}

func TestDeadStoreIsAnErrorAndNoFault(t *testing.T) {
	r, err := Check(t.Context(), onFaulty(dying(50)))
	require.NoError(t, err)
	require.Equal(t, Error, r.Status())
	require.Zero(t, r.Count(Fail), r.Err())
	require.Positive(t, r.Count(Pass))
	require.Contains(t, find(t, r, "counter/count").Detail, "no longer answers: connection refused")
	require.Equal(t, "not tried: the store no longer answers", find(t, r, "log/script/retry").Detail)
}

func TestAnErrorOfOneMethodIsAFault(t *testing.T) {
	r, err := Check(t.Context(), onFaulty(func(f *faulty) {
		f.push = func(context.Context, string, time.Duration, ...string) (int64, error) {
			return 0, errors.ErrUnsupported
		}
	}))
	require.NoError(t, err)
	require.Equal(t, Fail, find(t, r, "list/order").Status, "claimed, so the error under test does not excuse it")
	require.Zero(t, r.Count(Error))
}

func TestPanicIsAFault(t *testing.T) {
	r, err := Check(t.Context(), onFaulty(func(f *faulty) {
		f.add = func(context.Context, string, int64, time.Duration) (int64, error) { panic("boom") }
	}))
	require.NoError(t, err)
	for _, name := range []string{"counter/count", "counter/atomic"} { // in the check's goroutine, and in a caller's
		require.Equal(t, Fail, find(t, r, name).Status)
		require.Contains(t, find(t, r, name).Detail, "panic: boom")
	}
}

func TestDeadlines(t *testing.T) {
	stay := make(chan struct{})
	defer close(stay)
	for _, c := range []struct {
		name string
		wait func(ctx context.Context)
		want Status
	}{
		{"slow", func(ctx context.Context) { <-ctx.Done() }, Inconclusive},
		{"deaf", func(context.Context) { <-stay }, Fail},
	} {
		cfg := onFaulty(func(f *faulty) {
			f.push = func(ctx context.Context, _ string, _ time.Duration, _ ...string) (int64, error) {
				c.wait(ctx)
				return 0, ctx.Err()
			}
		})
		cfg.Deadline = 300 * time.Millisecond
		s, err := newSuite(t.Context(), cfg)
		require.NoError(t, err)
		for i := range s.checks {
			if s.checks[i].name == "list/order" {
				r := s.try(t.Context(), i)
				require.Equal(t, c.want, r.Status, "%s: %s", c.name, r)
			}
		}
		require.NoError(t, s.close())
	}
}

// What hangs for ever where the suite cleans up does not hang the suite.
func TestStubbornCleanup(t *testing.T) {
	t.Parallel()
	stay := make(chan struct{})
	defer close(stay)
	cfg := onFaulty(func(f *faulty) {
		f.shut = func() error { <-stay; return nil }
	})
	cfg.Deadline = 100 * time.Millisecond
	s, err := newSuite(t.Context(), cfg)
	require.NoError(t, err)
	require.ErrorContains(t, s.close(), "did not return")
}

func TestFailuresTellHowToRepeatThem(t *testing.T) {
	cfg := onFaulty(func(f *faulty) {
		f.trim = func(ctx context.Context, key string, start, stop int64) error {
			return f.inner.Trim(ctx, key, start, stop-1)
		}
	})
	cfg.Seed = 42
	var told []string
	for range 2 {
		r, err := Check(t.Context(), cfg)
		require.NoError(t, err)
		one := find(t, r, "list/order")
		require.LessOrEqual(t, len(one.History), 3, "the shortest history: %q", one.History)
		require.NotEmpty(t, one.History)
		require.Contains(t, one.String(), "seed: 42")
		require.Contains(t, one.String(), "rule: PushFront, Trim")
		told = append(told, one.String())
	}
	require.Equal(t, told[0], told[1], "the same seed asks the same")
}

func TestShortest(t *testing.T) {
	events := make([]int, 100)
	for i := range events {
		events[i] = i
	}
	p := &probe{}
	err := shortest(t.Context(), p, events, func(_ context.Context, _ string, events []int) error {
		var j journal
		sum := 0
		for _, e := range events {
			j.note("%d", e)
			if e == 17 || e == 80 {
				sum++
			}
		}
		if sum == 2 {
			return j.failf("both are there")
		}
		return nil
	})
	require.Equal(t, []string{"17", "80"}, broken(err).history)

	down := errors.New("connection refused")
	require.Equal(t, down, shortest(t.Context(), p, events, func(context.Context, string, []int) error { return down }))
	require.NoError(t, shortest(t.Context(), p, events, func(context.Context, string, []int) error { return nil }))
}

func TestConfigErrors(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"Open: nil":                      func(c *Config) { c.Open = nil },
		"Effort: -1: want 1 to 1000":     func(c *Config) { c.Effort = -1 },
		"Deadline: -1s":                  func(c *Config) { c.Deadline = -time.Second },
		`Prefix: "a/b"`:                  func(c *Config) { c.Prefix = "a/b" },
		`Skip: "counter": want a reason`: func(c *Config) { c.Skip = map[string]string{"counter": " "} },
		`Skip: "conter"`:                 func(c *Config) { c.Skip = map[string]string{"conter": "a slip"} },
		"open: no such host": func(c *Config) {
			c.Open = func(context.Context) (store.Store, error) { return nil, errors.New("no such host") }
		},
	} {
		cfg := onFaulty(func(*faulty) {})
		change(&cfg)
		_, err := Check(t.Context(), cfg)
		require.ErrorContains(t, err, want)
		require.True(t, strings.HasPrefix(err.Error(), "conformance: "), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Check(ctx, onFaulty(func(*faulty) {}))
	require.ErrorIs(t, err, context.Canceled)
}

func TestReport(t *testing.T) {
	cfg := onFaulty(func(*faulty) {})
	cfg.Algorithms = nil
	seen := 0
	cfg.Progress = func(done, total int, last Result) {
		seen++
		require.Equal(t, seen, done)
		require.LessOrEqual(t, done, total)
		require.NotEmpty(t, last.Check)
	}
	r, err := Check(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, r.Err())
	require.Equal(t, seen, len(r.Results))
	names := map[string]bool{}
	for _, one := range r.Results {
		require.False(t, names[one.Check], "%s comes twice", one.Check)
		names[one.Check] = true
		require.NotEmpty(t, one.Rule)
	}
	text, err := json.Marshal(r)
	require.NoError(t, err)
	var again Report
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, r.Results, again.Results)
	require.Equal(t, r.Status(), again.Status())

	var s Status
	require.ErrorContains(t, s.UnmarshalText([]byte("fine")), "over-claimed")
	require.Error(t, (&Report{}).Err(), "nothing passed")
}
