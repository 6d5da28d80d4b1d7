package peers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/conformance"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/redis"
)

// stranger presents a peer as an algorithm. It promises what ours of the same kind promises, and its
// one plan asks the peer.
type stranger struct {
	name    string
	promise weir.Algorithm
	prefix  string // that the peer puts before its keys
	// pace is how fast the peer's time goes, in hundredths of the suite's: a window of 10 ms is one of
	// 2.5 s to the peer where pace is 25,000. The suite's few limits meet what only a peer's second or
	// half a millisecond brings about.
	pace int64
	// spare is added to the capacity: costs for which the peer tells a wait, and so a day to come.
	spare int64
	open  func(c Config) (Peer, error)
}

func (s stranger) Name() string   { return s.name }
func (s stranger) String() string { return s.name }

func (s stranger) Shape(l weir.Limit) (weir.Shape, error) {
	shape, err := s.promise.Shape(l)
	if err != nil {
		return shape, err
	}
	plan := shape.Plans[0]
	plan.Refunds = false
	plan.Bind = func(b weir.Binding) (weir.Bound, error) { return s.bind(b, l) }
	shape.Plans = []weir.Plan{plan}
	shape.Capacity += s.spare
	return shape, nil
}

func (s stranger) bind(b weir.Binding, l weir.Limit) (weir.Bound, error) {
	l.Window = s.toPeer(l.Window)
	c := Config{Limit: l}
	if b.Clock != nil {
		c.Clock = func() time.Time { return start.Add(s.toPeer(b.Clock().Sub(start))) }
	}
	p, err := s.open(c)
	return guest{s, b.Space, p}, err
}

// start is where both times are the same.
var start = time.Date(2023, 11, 1, 0, 0, 0, 0, time.UTC)

func (s stranger) toPeer(d time.Duration) time.Duration { return d / 100 * time.Duration(s.pace) }

// guest is the stranger's plan at work.
type guest struct {
	stranger
	space string
	peer  Peer
}

func (g guest) Keys(key string) []string { return []string{g.prefix + g.space + key} }

func (g guest) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	a, err := g.peer.Take(ctx, g.space+key, cost)
	r := store.Reply{Allowed: a.Allowed, Remaining: max(a.Remaining, 0)}
	if a.Allowed || err != nil {
		return r, err
	}
	tick := int64(time.Microsecond) * g.pace / 100
	r.RetryAfter = max(1, (int64(a.RetryAfter)+tick-1)/tick)
	return r, nil
}

// find runs the wanted rules, and no other, on a stranger.
func find(t *testing.T, addr string, s stranger, rules ...string) map[string]conformance.Result {
	t.Helper()
	const elsewhere = "of ours, and checked elsewhere"
	skip := map[string]string{}
	for _, group := range []string{"traits", "store", "counter", "swap", "list", "sorted-set", "script", "clock", "footprint"} {
		skip[group] = elsewhere
	}
	for _, rule := range []string{
		"guarantee", "step", "concurrent", "own-time", "retry", "denied", "peek", "never", "reset", "refund",
		"limit-change", "clock-steps", "future", "keys", "slot", "error", "ttl",
	} {
		skip["*/"+rule] = "not wanted"
	}
	for _, rule := range rules {
		delete(skip, "*/"+rule)
	}
	report, err := conformance.Check(t.Context(), conformance.Config{
		Open:       func(context.Context) (store.Store, error) { return redis.Open("redis://"+addr, nil) },
		Algorithms: []weir.Algorithm{s}, Skip: skip, Effort: 4,
	})
	require.NoError(t, err)
	found := map[string]conformance.Result{}
	for _, r := range report.Results {
		if r.Status != conformance.Skipped {
			found[r.Check[strings.LastIndex(r.Check, "/")+1:]] = r
			t.Log(r)
		}
	}
	return found
}

// broken wants a rule broken, in the way that the detail tells.
func broken(t *testing.T, r conformance.Result, detail string) {
	t.Helper()
	require.Equal(t, conformance.Fail, r.Status, "%s: the fault is mended, or no longer found: %s", r.Check, r)
	require.Regexp(t, detail, r.Detail, fmt.Sprint(r))
}
