package versus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/peers"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/memory"
	"github.com/weirlimits/weir/store/redis"
)

// contender is a row and how its limiter is opened.
type contender struct {
	*Row
	clocked bool // takes a clock
	waits   bool // makes callers wait instead of denying
	logs    bool // keeps an entry for each request
	open    func(l weir.Limit, clock func() time.Time) (peers.Peer, error)
}

func (c *contender) alive() bool { return c.Needs == "" && c.Error == "" }

// loopLimit is a limit under which no request of a loop is denied.
func (c *contender) loopLimit(keys int) weir.Limit {
	switch {
	case c.waits:
		return waitLimit
	case c.Store != peers.Memory:
		return serverLimit
	case c.logs && keys == 1:
		return logLimit
	case c.logs:
		return serverLimit
	}
	return localLimit
}

// contenders lists ours and the peers'.
func contenders(s *servers) []*contender {
	var all []*contender
	for _, v := range s.variants() {
		for _, a := range ours() {
			all = append(all, own(v, a))
		}
	}
	for _, e := range peers.All() {
		all = append(all, &contender{
			Row: &Row{
				Name: e.Name, Module: e.Module, Version: e.Version, Algorithm: e.Algorithm, Store: e.Store, Cannot: e.Cannot,
			},
			clocked: e.Can(peers.CannotClock), waits: !e.Can(peers.CannotDeny),
			open: func(l weir.Limit, clock func() time.Time) (peers.Peer, error) {
				return e.Open(peers.Config{Limit: l, Clock: clock, Redis: s.client})
			},
		})
	}
	return all
}

// logging are ours that keep an entry for each request.
var logging = map[string]bool{algorithms.SlidingLog().Name(): true, algorithms.PackedLog(nil).Name(): true}

func ours() []weir.Algorithm {
	return []weir.Algorithm{
		algorithms.FixedWindow(), algorithms.GCRA(nil), algorithms.SlidingCounter(), algorithms.SlidingLog(), algorithms.PackedLog(nil),
	}
}

// variant is one of our stores, as it is set up for a row.
type variant struct {
	store string
	note  string // after the algorithm's name: "one per trip"
	open  func() (store.Store, error)
}

// variants are our stores. A way to set up a store that is worth rows of its own is one line here.
func (s *servers) variants() []variant {
	return []variant{
		{peers.Memory, "", func() (store.Store, error) { return memory.New(nil), nil }},
		{peers.Redis, "", func() (store.Store, error) { return redis.New(s.client, &redis.Options{NoEviction: true}), nil }},
		{peers.Redis, "one per trip", func() (store.Store, error) {
			return redis.New(s.client, &redis.Options{NoEviction: true, MaxBatch: 1}), nil
		}},
		{peers.Memcache, "", func() (store.Store, error) {
			return memcache.Open([]string{s.memcache.Addr}, &memcache.Options{MaxIdleConns: max(memcache.DefaultMaxIdleConns, s.callers)})
		}},
	}
}

func own(v variant, a weir.Algorithm) *contender {
	name := a.String()
	if v.note != "" {
		name += " (" + v.note + ")"
	}
	c := &contender{
		Row: &Row{
			Ours: true, Name: "weir " + name, Module: "github.com/weirlimits/weir", Algorithm: a.Name(), Store: v.store,
		},
		clocked: true, logs: logging[a.Name()],
		open: func(l weir.Limit, clock func() time.Time) (peers.Peer, error) {
			st, err := v.open()
			if err != nil {
				return nil, err
			}
			w, err := weir.New(a, l, st, &weir.Options{Clock: clock})
			if err != nil {
				return nil, errors.Join(err, st.Close())
			}
			return &owned{w, st}, nil
		},
	}
	p, err := c.open(preciseLimit, nil)
	var missing *weir.UnsupportedError
	switch {
	case errors.As(err, &missing):
		c.Needs = missing.Needs()
	case err != nil:
		c.Error = err.Error()
	default:
		if err := p.Close(); err != nil {
			c.Error = fmt.Sprintf("closing: %v", err)
		}
	}
	return c
}

// owned is one of ours behind the peers' interface.
type owned struct {
	limiter *weir.Weir
	store   store.Store
}

func (o *owned) Take(ctx context.Context, key string, n int64) (peers.Answer, error) {
	d, err := o.limiter.Take(ctx, key, n)
	return peers.Answer{Allowed: d.Allowed, Remaining: d.Remaining, RetryAfter: d.RetryAfter}, err
}

func (o *owned) Reset(ctx context.Context, key string) error { return o.limiter.Reset(ctx, key) }

func (o *owned) Close() error { return o.store.Close() }
