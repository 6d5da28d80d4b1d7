package conformance

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weirlimits/weir/store"
)

// makesTrips counts what a decision asks of the store. Each call of a capability is one
// round trip, by the contract of package store.
func makesTrips(ctx context.Context, p *probe, s subject) error {
	for _, limit := range tried {
		clock := new(simulated)
		clock.us.Store(epoch)
		st := &counting{Store: p.st}
		l, err := p.limiterOn(st, p.prefix, s, limit, clock)
		if err != nil {
			return err
		}
		plan, key := l.Plan(), limit.String()
		for range l.Capacity() + 2 {
			before := st.trips.Load()
			d, err := l.take(ctx, key, 1)
			if err != nil {
				return err
			}
			made, declared, what := int(st.trips.Load()-before), plan.Trips, "an admitted"
			if !d.Allowed {
				declared, what = plan.DeniedTrips, "a denied"
			}
			if made != declared {
				return failf("%s request makes %d calls on the store, with nobody else there: %d are declared", what, made, declared)
			}
		}
	}
	return nil
}

// counting counts the calls of a store's capabilities. It has the methods of all of them,
// and claims what the store has.
type counting struct {
	store.Store
	trips atomic.Int64
}

var (
	_ store.Counter   = (*counting)(nil)
	_ store.Swapper   = (*counting)(nil)
	_ store.List      = (*counting)(nil)
	_ store.SortedSet = (*counting)(nil)
	_ store.Scripter  = (*counting)(nil)
)

func (c *counting) Traits() store.Traits {
	t := c.Store.Traits()
	t.Capabilities &= store.Implemented(c.Store)
	return t
}

func (c *counting) Delete(ctx context.Context, keys ...string) error {
	c.trips.Add(1)
	return c.Store.Delete(ctx, keys...)
}

func (c *counting) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
	c.trips.Add(1)
	return c.Store.(store.Counter).Add(ctx, key, delta, ttl)
}

func (c *counting) Read(ctx context.Context, keys ...string) ([]int64, error) {
	c.trips.Add(1)
	return c.Store.(store.Counter).Read(ctx, keys...)
}

func (c *counting) Load(ctx context.Context, key string) ([]byte, store.Version, error) {
	c.trips.Add(1)
	return c.Store.(store.Swapper).Load(ctx, key)
}

func (c *counting) Swap(ctx context.Context, key string, version store.Version, value []byte, ttl time.Duration) (bool, error) {
	c.trips.Add(1)
	return c.Store.(store.Swapper).Swap(ctx, key, version, value, ttl)
}

func (c *counting) PushFront(ctx context.Context, key string, ttl time.Duration, values ...string) (int64, error) {
	c.trips.Add(1)
	return c.Store.(store.List).PushFront(ctx, key, ttl, values...)
}

func (c *counting) Trim(ctx context.Context, key string, start, stop int64) error {
	c.trips.Add(1)
	return c.Store.(store.List).Trim(ctx, key, start, stop)
}

func (c *counting) Index(ctx context.Context, key string, i int64) (string, bool, error) {
	c.trips.Add(1)
	return c.Store.(store.List).Index(ctx, key, i)
}

func (c *counting) Len(ctx context.Context, key string) (int64, error) {
	c.trips.Add(1)
	return c.Store.(store.List).Len(ctx, key)
}

func (c *counting) AddMembers(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
	c.trips.Add(1)
	return c.Store.(store.SortedSet).AddMembers(ctx, key, ttl, members...)
}

func (c *counting) RemoveUpTo(ctx context.Context, key string, most int64) (int64, error) {
	c.trips.Add(1)
	return c.Store.(store.SortedSet).RemoveUpTo(ctx, key, most)
}

func (c *counting) Card(ctx context.Context, key string) (int64, error) {
	c.trips.Add(1)
	return c.Store.(store.SortedSet).Card(ctx, key)
}

func (c *counting) Range(ctx context.Context, key string, start, stop int64) ([]store.Member, error) {
	c.trips.Add(1)
	return c.Store.(store.SortedSet).Range(ctx, key, start, stop)
}

func (c *counting) Prepare(step *store.Step, space string) (store.Runner, error) {
	r, err := c.Store.(store.Scripter).Prepare(step, space)
	return countingRunner{r, &c.trips}, err
}

type countingRunner struct {
	store.Runner
	trips *atomic.Int64
}

func (c countingRunner) Run(ctx context.Context, key string, args store.Args) (store.Reply, error) {
	c.trips.Add(1)
	return c.Runner.Run(ctx, key, args)
}
