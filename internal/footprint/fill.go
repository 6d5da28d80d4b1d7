// Package footprint computes what one client's state takes in a store: the state itself is what the
// algorithm's own step makes of evenly spread requests, in this process and in simulated time; what a store
// takes for it follows from the store's allocator.
package footprint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// Item is one key of a client.
type Item struct {
	Name     int     // bytes of the full key
	Value    float64 // bytes of the value
	Number   bool    // the value is a whole number in digits
	InMemory float64 // bytes that this module's store in this process takes for it
}

// Client says whose state it is.
type Client struct {
	Algorithm weir.Algorithm
	Plan      weir.Plan // by which the store runs it
	Limit     weir.Limit
	Prefix    string        // of the keys
	Key       string        // the client's own
	Requests  int64         // evenly spread
	Cost      int64         // of each
	Span      time.Duration // over which they are spread; zero: the window
}

// TypicalKey stands for a client's key: 16 bytes, a little more than an IPv4 address has at most.
const TypicalKey = "client-000000001"

const (
	most = 10_240 // requests that are played
	few  = 4096   // those that are played where there are more
)

// Fill returns the client's items after its requests. Of more requests than can be played it takes the larger of
// two estimates: few of them at the same distance, from which a state grows evenly, and all of them in as few
// lumps, which is what a state of blocks is made of.
func Fill(ctx context.Context, c Client) ([]Item, error) {
	gap := float64(cmp.Or(c.Span, c.Limit.Window).Microseconds()) / float64(max(c.Requests, 1))
	if c.Requests <= most {
		return c.play(ctx, c.Requests, gap)
	}
	half, err := c.play(ctx, few/2, gap)
	if err != nil {
		return nil, err
	}
	whole, err := c.play(ctx, few, gap)
	if err != nil {
		return nil, err
	}
	lumps := whole
	if c.Plan.MaxCost == 0 { // nothing has an entry for each
		each := (c.Requests + few - 1) / few
		c.Cost *= each
		if lumps, err = c.play(ctx, c.Requests/each, gap*float64(each)); err != nil {
			return nil, err
		}
	}
	rest := float64(c.Requests-few) / (few / 2)
	for i := range whole {
		whole[i].Value = max(lumps[i].Value, whole[i].Value+rest*max(0, whole[i].Value-half[i].Value))
		whole[i].InMemory = max(lumps[i].InMemory, whole[i].InMemory+rest*max(0, whole[i].InMemory-half[i].InMemory))
	}
	return whole, nil
}

// start is where simulated time starts: in 2024, at the beginning of an aligned window where
// windows are short, so that counters count in one.
func (c Client) start() time.Time {
	return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Truncate(c.Limit.Window)
}

// Space is how the keys of an algorithm begin, as [weir.New] names them.
func (c Client) Space() (string, error) {
	shape, err := c.Algorithm.Shape(c.Limit)
	_, window, _ := strings.Cut(c.Limit.String(), "/")
	return fmt.Sprintf("%s/%s.%s.%s/", c.Prefix, c.Algorithm.Name(), shape.Format, window), err
}

// play takes n requests, gap microseconds apart, and looks at what is kept.
func (c Client) play(ctx context.Context, n int64, gap float64) ([]Item, error) {
	space, err := c.Space()
	if err != nil {
		return nil, err
	}
	st := memory.New(nil)
	defer st.Close()
	start, now := c.start(), c.start()
	plan := c.Plan
	if plan.Step != nil && plan.Needs == store.CapSwap { // the step makes the same state next to it, and sooner
		plan = weir.ScriptPlan(plan.Step, plan.Params, 0)
	}
	bound, err := plan.Bind(weir.Binding{Store: st, Space: space, Clock: func() time.Time { return now }})
	if err != nil {
		return nil, err
	}
	for i := range n {
		now = start.Add(time.Duration(float64(i)*gap) * time.Microsecond)
		if _, err := bound.Take(ctx, c.Key, c.Cost); err != nil {
			return nil, err
		}
	}
	var items []Item
	for _, name := range bound.Keys(c.Key) {
		item, err := look(ctx, st, name)
		if err != nil {
			return nil, err
		}
		switch {
		case item.InMemory > 0:
			items = append(items, item)
		case c.Plan.Needs.Has(store.CapCounter) && len(items) > 0: // the counter of the window before
			items = append(items, items[0])
		}
	}
	return items, nil
}

func look(ctx context.Context, st *memory.Store, name string) (Item, error) {
	size, err := st.Size(ctx, name)
	if err != nil {
		return Item{}, err
	}
	item := Item{Name: len(name), InMemory: float64(size)}
	value, _, err := st.Load(ctx, name)
	if err != nil || value == nil {
		counts, countErr := st.Read(ctx, name)
		if countErr != nil {
			return Item{}, errors.Join(err, countErr)
		}
		value = strconv.AppendInt(nil, counts[0], 10)
	}
	item.Value = float64(len(value))
	_, err = strconv.ParseInt(string(value), 10, 64)
	item.Number = err == nil
	return item, nil
}

// Structured reports whether a plan keeps a data structure of the server, of which the bytes of a
// value tell nothing.
func Structured(p weir.Plan) bool { return p.Needs&(store.CapSortedSet|store.CapList) != 0 }
