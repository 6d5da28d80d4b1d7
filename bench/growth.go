package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirlimits/weir"
)

// GrowthConfig says up to where [Compare] measures how cost grows. Nil slices mean the defaults, empty
// ones leave that part out.
type GrowthConfig struct {
	Events  []int64   // a key holds; ascending; default 1 to 100,000
	Keys    []int64   // a store in this process holds; ascending; default 1 to 1,000,000
	Callers []int     // of the closed loop; default 1 to 512
	Rates   []float64 // of the open loop, per second; default 1,000, 5,000 and 20,000
	Stall   int64     // expired events that are trimmed; 0: 100,000; below 0: that is left out

	// PointTime is the longest that one point may take; what takes longer has no figure, and says so.
	// Default 20 s.
	PointTime time.Duration
}

// DefaultGrowthCallers returns the levels of the closed loop by which growth is shown.
func DefaultGrowthCallers() []int { return []int{1, 4, 16, 64, 256, 512} }

func (g GrowthConfig) complete() (*GrowthConfig, error) {
	if g.Events == nil {
		g.Events = []int64{1, 10, 100, 1000, 10_000, 100_000}
	}
	if g.Keys == nil {
		g.Keys = []int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}
	}
	if g.Callers == nil {
		g.Callers = DefaultGrowthCallers()
	}
	if g.Rates == nil {
		g.Rates = []float64{1000, 5000, 20_000}
	}
	if g.Stall == 0 {
		g.Stall = 100_000
	}
	if g.PointTime == 0 {
		g.PointTime = 20 * time.Second
	}
	for _, list := range []struct {
		field  string
		values []int64
		most   int64
	}{{"Events", g.Events, maxMemoryEvents}, {"Keys", g.Keys, maxGrowthKeys}} {
		last := int64(0)
		for _, n := range list.values {
			if n <= last || n > list.most {
				return nil, fieldError("Config.Growth."+list.field, n, fmt.Sprintf("1 to %d, ascending", list.most))
			}
			last = n
		}
	}
	for _, rate := range g.Rates {
		if !(rate >= 1 && rate <= maxRate) {
			return nil, fieldError("Config.Growth.Rates", rate, fmt.Sprintf("1 to %d", maxRate))
		}
	}
	switch {
	case g.Stall > maxMemoryEvents:
		return nil, fieldError("Config.Growth.Stall", g.Stall, fmt.Sprintf("up to %d", maxMemoryEvents))
	case g.PointTime < 0:
		return nil, fieldError("Config.Growth.PointTime", g.PointTime, "above 0, or 0 for the default")
	}
	return &g, nil
}

const (
	maxGrowthKeys = 10_000_000
	maxRate       = 1_000_000
)

// within does the work unless it takes longer than that; na then says so. It also says where the store
// has no room for the limit.
func within(ctx context.Context, most time.Duration, limit weir.Limit, work func(ctx context.Context) error) (na string, err error) {
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err = work(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return tooLong(most), nil
	}
	var void *notAdmittedError
	if errors.As(err, &void) {
		return void.Error(), nil
	}
	if text, ok := noRoom(err, limit); ok {
		return text, nil
	}
	return "", err
}

func tooLong(most time.Duration) string { return fmt.Sprintf("over %v s", most.Seconds()) }

// noRoom says why a store cannot run a limit, where that is the error.
func noRoom(err error, limit weir.Limit) (string, bool) {
	var field *weir.FieldError
	if !errors.As(err, &field) {
		return "", false
	}
	return field.Field + " " + field.Value + " for " + limit.String(), true
}
