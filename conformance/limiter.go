package conformance

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// subject is an algorithm by one of its plans.
type subject struct {
	weir.Algorithm
	plan string
}

// Shape implements [weir.Algorithm]: the algorithm's, with this plan alone.
func (s subject) Shape(l weir.Limit) (weir.Shape, error) {
	shape, err := s.Algorithm.Shape(l)
	if err != nil {
		return shape, err
	}
	for _, plan := range shape.Plans {
		if plan.Name == s.plan {
			shape.Plans = []weir.Plan{plan}
			return shape, nil
		}
	}
	return shape, &weir.FieldError{Field: "limit", Value: l.String(), Want: "one under which " + s.String() + " has the plan " + s.plan}
}

// limiterRule is a check of every algorithm by every plan.
type limiterRule struct {
	name, rule string
	waits      bool
	run        func(ctx context.Context, p *probe, s subject) error
}

var limiterRules = []limiterRule{
	{name: "guarantee", rule: "no window sees more admitted than declared, and no denial comes with more places free", run: keepsGuarantee},
	{name: "step", rule: "it decides as the step's Go function does", run: decidesAsStep},
	{name: "concurrent", rule: "of 64 callers at one instant as many are admitted as the capacity is, and no two get the same place", run: countsConcurrently},
	{name: "linearizable", rule: "what callers of several processes are answered at once, some order of their calls explains", run: ordersConcurrentCalls},
	{name: "own-time", rule: "by the store's own clock, too, the capacity is admitted and no more", run: countsByOwnTime},
	{name: "retry", rule: "RetryAfter is true: denied a microsecond before, admitted at that instant", run: retriesTruly},
	{name: "denied", rule: "a denial consumes nothing, unless it is declared to", run: deniesFreely},
	{name: "peek", rule: "a peek is allowed, tells what remains and writes nothing", run: peeksFreely},
	{name: "never", rule: "a cost above the capacity is never admitted and writes nothing; one below zero is an error", run: refusesNever},
	{name: "reset", rule: "Reset makes a key as if it had never been used, and leaves nothing of it", run: resets},
	{name: "refund", rule: "a refund undoes what was taken, and no more", run: refunds},
	{name: "limit-change", rule: "raising the limit of a live key takes effect at once, and lowering it admits nothing too much", run: changesLimit},
	{name: "clock-steps", rule: "a clock that goes back an hour and forth opens nothing and spoils nothing", run: stepsClock},
	{name: "future", rule: "where one clock rules, a stored time in the future locks nobody out for longer than one refill", run: forgivesFuture},
	{name: "keys", rule: "any bytes are a key, two keys never meet, and two prefixes never do", run: separatesKeys},
	{name: "slot", rule: "all keys of one decision are in one Redis Cluster slot", run: staysInSlot},
	{name: "trips", rule: "an admitted and a denied request make as many calls on the store as declared", run: makesTrips},
	{name: "error", rule: "where the store cannot answer, or holds what is not the limiter's, Take is an error and no decision", run: failsClosed},
	{name: "ttl", rule: "no key lives longer than declared, and that is at most 2W or what the capacity takes to refill, and 2 s", waits: true, run: leavesNothing},
}

// limiterChecks are the rules for each algorithm by each plan that the store can run.
// What it can run none of is one check, which says what is missing.
func limiterChecks(st store.Store, list []weir.Algorithm) []check {
	var all []check
	for _, a := range list {
		any := weir.Limit{Count: 1, Window: time.Second}
		shape, err := a.Shape(any)
		if err == nil {
			_, err = weir.New(a, any, st, nil)
		}
		if err != nil {
			all = append(all, check{
				name: a.String(), rule: "the algorithm can run on the store",
				run: func(context.Context, *probe) error { return cannotRun(a, any, st, err) },
			})
			continue
		}
		has := st.Traits().Capabilities & store.Implemented(st)
		for _, plan := range shape.Plans {
			if !has.Has(plan.Needs) {
				continue
			}
			s := subject{a, plan.Name}
			for _, r := range limiterRules {
				all = append(all, check{
					name: fmt.Sprintf("%s/%s/%s", a, plan.Name, r.name), rule: r.rule, waits: r.waits,
					run: func(ctx context.Context, p *probe) error { return r.run(ctx, p, s) },
				})
			}
		}
	}
	return all
}

// cannotRun tells a store that lacks what every plan needs, which is no fault, from a plan
// that does not start although the store has all of it.
func cannotRun(a weir.Algorithm, l weir.Limit, st store.Store, cause error) error {
	shape, err := a.Shape(l)
	if err != nil {
		return failf("Shape of %s: %v", l, err)
	}
	has := st.Traits().Capabilities & store.Implemented(st)
	for _, plan := range shape.Plans {
		if has.Has(plan.Needs) {
			return failf("the store has all that the plan %s needs, and New gives %v", plan.Name, cause)
		}
	}
	return unsupportedf("%v", cause)
}

// The limits that are tried: small ones, so that every place counts, with windows of many
// ticks. The windows are few, as each is a key space of its own; some are no whole number of
// seconds or milliseconds, which a careless TTL is.
var tried = []weir.Limit{
	{Count: 5, Window: 10 * time.Millisecond},
	{Count: 1, Window: 10 * time.Millisecond},
	{Count: 7, Window: time.Second},
	{Count: 5, Window: 2500 * time.Millisecond},
	{Count: 4, Window: 1500 * time.Microsecond},
}

// epoch is about where simulated time starts: a multiple of the windows, 2023-11-14.
const epoch = 1_699_920_000_000_000

// simulated is a clock that stands still until it is moved.
type simulated struct{ us atomic.Int64 }

func (c *simulated) now() time.Time { return time.UnixMicro(c.us.Load()) }

// limited is a limiter in simulated time.
type limited struct {
	*weir.Weir
	p     *probe
	clock *simulated
	shape weir.Shape
}

// limiter makes a limiter. clock is nil for the store's own.
func (p *probe) limiter(s subject, l weir.Limit, clock *simulated) (*limited, error) {
	return p.limiterOn(p.st, p.prefix, s, l, clock)
}

func (p *probe) limiterOn(st store.Store, prefix string, s subject, l weir.Limit, clock *simulated) (*limited, error) {
	shape, err := s.Shape(l)
	if err != nil {
		return nil, failf("Shape of %s: %v", l, err)
	}
	opts := weir.Options{Prefix: prefix}
	if clock != nil {
		opts.Clock = clock.now
	}
	w, err := weir.New(s, l, st, &opts)
	if err != nil {
		return nil, failf("New with %s: %v", l, err)
	}
	return &limited{Weir: w, p: p, clock: clock, shape: shape}, nil
}

// simulate makes a limiter with a clock of its own, at a random time.
func (p *probe) simulate(s subject, l weir.Limit) (*limited, error) {
	clock := new(simulated)
	clock.us.Store(epoch + p.rng.Int64N(3)*l.Window.Microseconds()/2 + p.rng.Int64N(3))
	return p.limiter(s, l, clock)
}

// take asks now, and notes which keys that may write.
func (l *limited) take(ctx context.Context, key string, n int64) (weir.Decision, error) {
	l.p.remember(l.Keys(key)...)
	return l.Take(ctx, key, n)
}

// at is the clock's time since the epoch, as histories show it.
func (l *limited) at() string { return fmt.Sprintf("%dus", l.clock.us.Load()-epoch) }

// fill takes as much as it gets, in ever smaller parts, and returns the denial of the
// last single request.
func (l *limited) fill(ctx context.Context, key string) (taken int64, denied weir.Decision, err error) {
	part := l.Capacity()
	if l.shape.Guarantee.DeniedCount {
		part = 1 // what is asked in vain would count
	}
	for taken <= l.Capacity() {
		d, err := l.take(ctx, key, part)
		switch {
		case err != nil:
			return taken, d, err
		case d.Allowed:
			taken += part
		case part == 1:
			return taken, d, nil
		default:
			part /= 2
		}
	}
	return taken, denied, failf("%d requests at one instant are admitted: the capacity is %d", taken, l.Capacity())
}

// unused wants the key to be absent from the store, as far as that can tell.
func (l *limited) unused(ctx context.Context, key, after string) error {
	for _, name := range l.Keys(key) {
		there, err := l.p.exists(ctx, name)
		if err != nil {
			if v := verdictOf(err); v != nil && v.status == Unsupported {
				return nil
			}
			return err
		}
		if there {
			return failf("%s wrote the key %s", after, quoted(name))
		}
	}
	return nil
}

func outcome(d weir.Decision) string {
	if d.Allowed {
		return fmt.Sprintf("allowed, %d remain", d.Remaining)
	}
	if d.RetryAfter == weir.Never {
		return "denied, never"
	}
	return fmt.Sprintf("denied, retry after %dus", d.RetryAfter.Microseconds())
}
