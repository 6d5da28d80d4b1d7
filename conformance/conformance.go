// Package conformance proves that a store or an algorithm keeps its word.
//
// In a test of one's own store it is one call and a factory:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Config{
//			Open: func(context.Context) (store.Store, error) { return mystore.New(), nil },
//		})
//	}
//
// [Check] does the same for a program and returns a [Report]. Both run one list of
// checks. A check is named after what it looks at, as "counter/atomic" or
// "gcra/script/retry"; it has a rule of one line, a key space of its own and a deadline.
//
// # What is checked
//
// Of the store: that its traits and its interfaces name the same capabilities, that no
// trait promises too much, and the contract of every capability. Of every
// algorithm by every plan that the store can run: its declared
// [weir.Guarantee], that it decides as its step's Go function does, what it writes
// and what it must not, that its waits are true, and what happens when its limit or its
// clock changes.
//
// Under concurrency it does two things. It counts exactly: 64 callers at one instant get
// what the capacity allows and no more, and no two get the same place. And it records
// histories of callers of several processes, who take, peek and reset, and searches for an
// order of the calls that explains every answer: for a limiter in the step's Go function,
// for a counter and for compare-and-swap in plain values. A plan that adds first and gives
// back may deny, while another denied request of the key goes on, what would have
// fitted; it is held to everything else. A plan that is declared racy claims nothing of
// this, and so is unsupported there. A search that takes too long is inconclusive.
package conformance

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
)

// Config says what to check, and how hard. Only Open is required.
type Config struct {
	// Open opens the store. It is called twice: the second store, on the same backend or
	// on another, is for what happens after Close. The suite closes both.
	Open func(ctx context.Context) (store.Store, error)
	// KeepOpen leaves the first store open in the end: it is the caller's.
	KeepOpen bool
	// Algorithms are checked on the store. Nil means all of package algorithms;
	// an empty slice means none: the store alone is checked.
	Algorithms []weir.Algorithm
	// Skip leaves checks out, each with the reason, which is reported. The key is a
	// check's name or the part of it before a slash, as "footprint" or "gcra/script"; or "*"
	// and how names end: "*/ttl".
	Skip map[string]string
	// Seed of everything random; zero means 1. The same seed asks the same.
	Seed uint64
	// Effort multiplies the random trials, 1 to 1000; zero means 1.
	Effort int
	// Prefix begins every key, and is one that nobody else uses: 1 to 48 printable ASCII
	// characters other than space, "/", "{" and "}". The default is a random one.
	Prefix string
	// Guest tells that others use the backend too. Then the one key that can have no
	// prefix, the empty one, is left alone.
	Guest bool
	// Deadline bounds each check; zero means 30 seconds.
	Deadline time.Duration
	// Time replaces real time where the store's keys expire in simulated time.
	Time Time
	// Progress, if not nil, is told of every result as it comes. Calls do not overlap.
	Progress func(done, total int, last Result)
}

// Time is how keys' time to live passes.
type Time interface {
	Now() time.Time
	// Sleep returns when d has passed, or with the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

type realTime struct{}

func (realTime) Now() time.Time { return time.Now() }

func (realTime) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Check runs all checks and returns what came of them. The error says that the checks
// could not be run: the config is wrong, Open failed, or ctx is done. What the store does wrong
// is in the report; see [Report.Err].
func Check(ctx context.Context, cfg Config) (*Report, error) {
	s, err := newSuite(ctx, cfg)
	if err != nil {
		return nil, err
	}
	report := s.newReport()
	s.begin(ctx)
	for i := range s.checks {
		report.add(s.result(ctx, i))
		if cfg.Progress != nil {
			cfg.Progress(i+1, len(s.checks), report.Results[i])
		}
		if ctx.Err() != nil {
			break
		}
	}
	closeErr := s.close()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("conformance: %w", err)
	}
	if closeErr != nil {
		report.add(s.closing(closeErr))
	}
	report.Elapsed = time.Since(report.Started)
	return report, nil
}

// Run runs each check as a subtest of t. What the store lacks, and what was not concluded,
// is a skipped subtest.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	s, err := newSuite(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.begin(t.Context())
	for i := range s.checks {
		t.Run(s.checks[i].name, func(t *testing.T) {
			r := s.result(t.Context(), i)
			if cfg.Progress != nil {
				cfg.Progress(i+1, len(s.checks), r)
			}
			switch r.Status {
			case Pass:
			case Skipped, Unsupported, Inconclusive:
				t.Skipf("%s: %s", r.Status, r.Detail)
			default:
				t.Error(r.String())
			}
		})
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// validate fills in the defaults.
func (c *Config) validate() error {
	if c.Open == nil {
		return errors.New("conformance: Open: nil: want a function that opens the store")
	}
	if c.Effort < 0 || c.Effort > 1000 {
		return fmt.Errorf("conformance: Effort: %d: want 1 to 1000, or 0 for 1", c.Effort)
	}
	if c.Deadline < 0 {
		return fmt.Errorf("conformance: Deadline: %v: want a duration above 0, or 0 for 30s", c.Deadline)
	}
	c.Seed, c.Effort = cmp.Or(c.Seed, 1), cmp.Or(c.Effort, 1)
	c.Deadline = cmp.Or(c.Deadline, 30*time.Second)
	if c.Prefix == "" {
		c.Prefix = "conform-" + strings.ToLower(rand.Text()[:12])
	}
	bad := len(c.Prefix) > 48
	for _, b := range []byte(c.Prefix) {
		bad = bad || b <= ' ' || b >= 0x7f || strings.IndexByte("/{}", b) >= 0
	}
	if bad {
		return fmt.Errorf("conformance: Prefix: %s: want 1 to 48 printable ASCII characters without space, \"/\", \"{\" and \"}\"",
			strconv.Quote(c.Prefix))
	}
	if c.Algorithms == nil {
		c.Algorithms = algorithms.All()
	}
	for name, reason := range c.Skip {
		if strings.TrimSpace(reason) == "" {
			return fmt.Errorf("conformance: Skip: %q: want a reason", name)
		}
	}
	return nil
}
