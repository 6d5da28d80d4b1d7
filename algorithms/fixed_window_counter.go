package algorithms

import (
	"context"
	"strconv"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/combine"
	"github.com/weirlimits/weir/store"
)

// fixedWindowCounterPlan needs nothing but a counter: one key per window, added to
// first; an addition that passes the limit is given back.
//
// The counter is the admitted plus whatever others are about to give back, so it is
// never below the admitted and no more than L pass. It may be above for a moment,
// and then deny what would have fitted.
func fixedWindowCounterPlan(limit, window int64) weir.Plan {
	return weir.Plan{
		Name:  "counter",
		Needs: store.CapCounter,
		Trips: 1, DeniedTrips: 2,
		Spurious: true, Refunds: true,
		Bind: func(b weir.Binding) (weir.Bound, error) {
			f := &fixedWindowCounter{limit: limit, counters: newWindowCounters(b, window)}
			f.together = combine.NewDecisions(f.serve)
			return f, nil
		},
	}
}

type fixedWindowCounter struct {
	limit    int64
	counters windowCounters
	together combine.Decisions
}

func (f *fixedWindowCounter) Keys(key string) []string { return f.counters.keys(key, 1) }

func (f *fixedWindowCounter) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	if cost > 0 {
		return f.together.Take(ctx, key, cost)
	}
	now, err := f.counters.now()
	if err != nil {
		return store.Reply{}, err
	}
	name, left := f.counters.at(key, now)
	var count int64
	if cost < 0 {
		count, err = f.counters.giveBack(ctx, name, -cost)
	} else {
		count, err = f.counters.read(ctx, name)
	}
	return windowReply(true, f.limit-count, count > 0, left), err
}

func (f *fixedWindowCounter) serve(ctx context.Context, key string, asks []*combine.Ask) error {
	now, err := f.counters.now()
	if err != nil {
		return err
	}
	name, left := f.counters.at(key, now)
	sum := total(asks)
	count, err := f.counters.add(ctx, name, sum, left)
	if err != nil {
		return err
	}
	denied := int64(0)
	count -= sum
	for _, ask := range asks {
		allowed := count+ask.Cost <= f.limit
		if allowed {
			count += ask.Cost
		} else {
			denied += ask.Cost
		}
		ask.Reply = windowReply(allowed, f.limit-count, count > 0, left)
	}
	if denied > 0 {
		_, err = f.counters.giveBack(ctx, name, denied)
		failDenied(asks, err)
	}
	return nil
}

// windowCounters are the counters of aligned windows, one key for each.
type windowCounters struct {
	counter store.Counter
	binding weir.Binding
	window  int64
}

func newWindowCounters(b weir.Binding, window int64) windowCounters {
	return windowCounters{counter: b.Store.(store.Counter), binding: b, window: window}
}

func (w windowCounters) now() (int64, error) {
	if w.binding.Clock != nil {
		return weir.Micros(w.binding.Clock())
	}
	return weir.Micros(time.Now())
}

// key puts the user's key into braces, so that Redis Cluster keeps all windows of one
// key in one slot. The colon keeps the braces from being empty, which would mean
// "hash the whole key", also where the user's key is empty or starts with a brace.
func (w windowCounters) key(user string, index int64) string {
	return w.binding.Space + "{:" + user + "}" + strconv.FormatInt(index, 10)
}

// keys returns the keys of the latest windows, newest first.
func (w windowCounters) keys(user string, latest int64) []string {
	now, err := w.now()
	if err != nil {
		return nil
	}
	var keys []string
	for i := range latest {
		keys = append(keys, w.key(user, now/w.window-i))
	}
	return keys
}

// at returns the key of now's window and how long that window still is.
func (w windowCounters) at(user string, now int64) (name string, left int64) {
	index := now / w.window
	return w.key(user, index), (index+1)*w.window - now
}

func (w windowCounters) read(ctx context.Context, name string) (int64, error) {
	counts, err := w.counter.Read(ctx, name)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (w windowCounters) add(ctx context.Context, name string, cost, ttl int64) (int64, error) {
	d := store.TTL(ttl + margin(w.window))
	if w.binding.Clock != nil {
		d = max(d, store.HousekeepingTTL)
	}
	return w.counter.Add(ctx, name, cost, d)
}

// giveBackTimeout bounds a rollback, which goes on when its caller has gone.
const giveBackTimeout = 2 * time.Second

func (w windowCounters) giveBack(ctx context.Context, name string, cost int64) (int64, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
	defer cancel()
	// The key exists, so the TTL is without effect.
	return w.counter.Add(ctx, name, -cost, store.HousekeepingTTL)
}
