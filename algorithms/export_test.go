package algorithms

import (
	"context"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// StepOf returns an algorithm's step and its parameters under a limit.
func StepOf(a weir.Algorithm, l weir.Limit) (*store.Step, []int64) {
	c := &capture{}
	w, err := weir.New(a, l, c, nil)
	if err != nil {
		panic(err)
	}
	_, _ = w.Take(context.Background(), "k", 1)
	return c.step, c.args.Params
}

// capture is a store that keeps what a plan prepares and asks.
type capture struct {
	store.List
	store.SortedSet
	step *store.Step
	args store.Args
}

func (c *capture) Traits() store.Traits {
	return store.Traits{
		Name: "capture", MaxTTL: time.Duration(1<<63 - 1),
		Capabilities: store.CapScript | store.CapList | store.CapSortedSet,
	}
}

func (c *capture) Close() error                            { return nil }
func (c *capture) Delete(context.Context, ...string) error { return nil }

func (c *capture) Prepare(step *store.Step, _ string) (store.Runner, error) {
	c.step = step
	return c, nil
}

func (c *capture) Run(_ context.Context, _ string, args store.Args) (store.Reply, error) {
	c.args = args
	return store.Reply{Allowed: true}, nil
}
