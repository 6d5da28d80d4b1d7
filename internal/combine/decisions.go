package combine

import (
	"context"

	"github.com/weirlimits/weir/store"
)

// maxDecisions bounds how many decisions are made together: for so long a caller computes for
// others, and so many costs are summed.
const maxDecisions = 1024

// Ask is one caller's question and the answer to it.
type Ask struct {
	Cost  int64
	Reply store.Reply
	Err   error
}

// Decisions are [Lines] of callers who ask for decisions.
type Decisions struct{ lines *Lines[Ask] }

// NewDecisions returns what decides by serve, as if the asks had come one after another. Its
// error is the answer to each of them.
func NewDecisions(serve func(ctx context.Context, key string, asks []*Ask) error) Decisions {
	return Decisions{New(maxDecisions, func(ctx context.Context, key string, asks []*Ask) {
		if err := serve(ctx, key, asks); err != nil {
			for _, ask := range asks {
				ask.Err = err
			}
		}
	})}
}

// Take asks, alone or with others. With the context's error the caller has left, as in [Lines.Do].
func (d Decisions) Take(ctx context.Context, key string, cost int64) (store.Reply, error) {
	ask := &Ask{Cost: cost}
	if err := d.lines.Do(ctx, key, ask); err != nil {
		return store.Reply{}, err
	}
	return ask.Reply, ask.Err
}
