package algorithms

import (
	"context"

	"github.com/weirlimits/weir/internal/combine"
	"github.com/weirlimits/weir/store"
)

// together lets the callers of one process that ask a counter for one key at the same time
// share its round trips: one addition for all, decided as if they had come one after another, and one
// that gives back what did not fit.
type together struct{ lines *combine.Lines[counterAsk] }

// counterAsk is one caller's question and the answer to it.
type counterAsk struct {
	cost  int64 // above 0
	reply store.Reply
	err   error
}

// maxTogether keeps the sum of costs far from what Redis counts exactly.
const maxTogether = 1024

// newTogether returns what serves callers by serve, whose error is every ask's.
func newTogether(serve func(ctx context.Context, key string, asks []*counterAsk) error) together {
	return together{combine.New(maxTogether, func(ctx context.Context, key string, asks []*counterAsk) {
		if err := serve(ctx, key, asks); err != nil {
			for _, ask := range asks {
				ask.err = err
			}
		}
	})}
}

func (t together) take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	ask := &counterAsk{cost: cost}
	if err := t.lines.Do(ctx, key, ask); err != nil {
		return store.Reply{}, err
	}
	return ask.reply, ask.err
}

func total(asks []*counterAsk) (sum int64) {
	for _, ask := range asks {
		sum += ask.cost
	}
	return sum
}

// failDenied makes err, if any, the answer of the denied: what they added was not given back.
// The admitted have theirs.
func failDenied(asks []*counterAsk, err error) {
	for _, ask := range asks {
		if !ask.reply.Allowed {
			ask.err = err
		}
	}
}
