package bench

import (
	"math"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
)

// FloorPoint is the least that any log of so many events could take, as [Floor] computes it.
type FloorPoint struct {
	Events int64   `json:"events"`
	Bytes  float64 `json:"bytes"`
	Total  float64 `json:"total_bytes,omitempty"` // for Results.Clients
}

// Floor returns the information-theoretic floor of an exact log of up to n requests, in bytes: that many
// lie in the W/tick ticks of a window in C(W/tick + n, n) ways, and to tell one of so many takes the
// base-two logarithm of their number in bits.
func Floor(window, tick time.Duration, n int64) float64 {
	ticks, events := float64(window/tick), float64(n)
	log := func(x float64) float64 { // of x factorial
		v, _ := math.Lgamma(x + 1)
		return v
	}
	return (log(ticks+events) - log(ticks) - log(events)) / math.Ln2 / 8
}

// floorPoints are the floors at the grain of time that the packed log has under the limit.
func floorPoints(limit weir.Limit, events []int64, clients int64) []FloorPoint {
	shape, err := algorithms.PackedLog(nil).Shape(limit)
	if err != nil {
		return nil
	}
	// It may take a request for in the window for up to a tick, less the smallest unit of time.
	tick := shape.Guarantee.DeficitFor + time.Microsecond
	var all []FloorPoint
	for _, n := range events {
		bytes := Floor(limit.Window, tick, n)
		all = append(all, FloorPoint{Events: n, Bytes: bytes, Total: bytes * float64(clients)})
	}
	return all
}
