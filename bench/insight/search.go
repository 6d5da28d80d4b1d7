package insight

import (
	"context"
	"errors"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/digits"
)

// search looks for the smallest limit by which one algorithm denies at most so many.
type search struct {
	traffic   *Traffic
	algorithm weir.Algorithm
	window    time.Duration
	goal      Goal
	most      int64
	decided   int64 // requests, by all limits tried
	refused   error // why the limit tried last cannot be; nil if it can
}

func (s *search) limit(count int64) weir.Limit { return weir.Limit{Count: count, Window: s.window} }

// least returns a limit that meets the goal while the one below does not; zero if none does.
func (s *search) least(ctx context.Context) (int64, error) {
	low, high := int64(0), int64(1)
	for {
		met, err := s.meets(ctx, high)
		switch {
		case err != nil:
			return 0, err
		case !met && high == weir.MaxCount:
			return 0, nil
		case !met:
			low, high = high, min(2*high, weir.MaxCount)
			continue
		}
		break
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		met, err := s.meets(ctx, middle)
		switch {
		case err != nil:
			return 0, err
		case met:
			high = middle
		default:
			low = middle
		}
	}
	return high, nil
}

// scan tries the limits below one by one, as long as that takes no more decisions than scanned, and on to one that
// does not meet the goal. It returns the smallest that does, and the lowest limit that was tried.
func (s *search) scan(ctx context.Context, least int64) (smallest, from int64, err error) {
	smallest, from = least, max(least-1, 1)
	s.decided = 0
	for count := least - 2; count >= 1 && (s.decided < scanned || smallest == from); count-- { // its neighbour was tried
		met, err := s.meets(ctx, count)
		if err != nil {
			return 0, 0, err
		}
		if from = count; met {
			smallest = count
		}
	}
	return smallest, from, nil
}

// meets reports whether a limit denies few enough. It decides no more than it takes to tell.
func (s *search) meets(ctx context.Context, count int64) (bool, error) {
	var m *machine
	if m, s.refused = newMachine(s.algorithm, s.limit(count)); s.refused != nil {
		return false, nil
	}
	left := s.most
	for _, c := range s.traffic.clients {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		m.fresh()
		for i, ask := range c.asks {
			reply, err := m.take(ask)
			if err != nil {
				s.refused = err
				return false, nil
			}
			if !reply.Allowed {
				left--
			}
			if left < 0 || !reply.Allowed && s.goal.Of == Clients || i == len(c.asks)-1 {
				s.decided += int64(i) + 1
				break
			}
		}
		if left < 0 {
			return false, nil
		}
	}
	return true, nil
}

// refusal says why no limit was found.
func (s *search) refusal() string {
	var field *weir.FieldError
	if errors.As(s.refused, &field) {
		return reason(field)
	}
	return "no limit up to " + digits.Group(weir.MaxCount) + " meets it"
}

func (s *search) outcome(ctx context.Context, count int64) (*Outcome, error) {
	o, err := s.traffic.Decide(ctx, s.algorithm, s.limit(count))
	if err != nil {
		return nil, err
	}
	return &o, nil
}
