package bench

import (
	"math"
	"math/rand/v2"

	"github.com/weirlimits/weir"
)

// steady is traffic at factor times the limit, with exponential gaps, as of clients that know
// nothing of each other.
func steady(name string, limit weir.Limit, seed uint64, factor float64) Scenario {
	return poisson(name, limit, seed, factor, extentFor(limit, factor, usualKeys))
}

// farBelow is the many clients of whom a limit never hears: a tenth of it, as steady.
func farBelow(limit weir.Limit, seed uint64) Scenario {
	return poisson("far-below", limit, seed, 0.1, extentFor(limit, 0.1, [2]float64{64, 64}))
}

func poisson(name string, limit weir.Limit, seed uint64, factor float64, e extent) Scenario {
	window := float64(limit.Window.Microseconds())
	gap := window / (float64(limit.Count) * factor) * float64(e.cost)
	return e.scenario(name, limit, seed, func(random *rand.Rand, add func(at float64)) {
		for at := gap * random.ExpFloat64(); at < window*float64(e.windows); at += gap * random.ExpFloat64() {
			add(at)
		}
	})
}

// onOff is traffic of clients that send at four times the limit for a part of a window, then
// pause for about one.
func onOff(limit weir.Limit, seed uint64) Scenario {
	e := extentFor(limit, 2, usualKeys)
	window := float64(limit.Window.Microseconds())
	gap := window / (float64(limit.Count) * 4) * float64(e.cost)
	return e.scenario("on-off", limit, seed, func(random *rand.Rand, add func(at float64)) {
		end := window * float64(e.windows)
		for at := random.Float64() * window; at < end; at += window * (0.5 + random.Float64()) {
			off := at + window*(0.1+0.8*random.Float64())
			for ; at < min(off, end); at += gap * random.ExpFloat64() {
				add(at)
			}
		}
	})
}

// lognormal is traffic at the limit with gaps of widely different lengths, as of people who read
// between clicks: runs of requests, then long pauses. The mean gap is that of steady-1x.
func lognormal(limit weir.Limit, seed uint64) Scenario {
	const sigma = 1.5
	e := extentFor(limit, 1, usualKeys)
	window := float64(limit.Window.Microseconds())
	gap := window / float64(limit.Count) * float64(e.cost)
	draw := func(random *rand.Rand) float64 {
		return gap * math.Exp(sigma*random.NormFloat64()-sigma*sigma/2) // of mean gap
	}
	return e.scenario("lognormal", limit, seed, func(random *rand.Rand, add func(at float64)) {
		for at := draw(random); at < window*float64(e.windows); at += draw(random) {
			add(at)
		}
	})
}

// cron is traffic of clients that wake on the full window, as jobs do on the full minute: every
// one, every second, third or fifth. Their clocks differ by up to a hundredth of it either way. Each then
// asks for half to one and a half times the limit, within about a tenth of the window.
func cron(limit weir.Limit, seed uint64) Scenario {
	e := extentFor(limit, 0.5, usualKeys)
	window := float64(limit.Window.Microseconds())
	gap := window / (float64(limit.Count) * 10) * float64(e.cost)
	return e.scenario("cron", limit, seed, func(random *rand.Rand, add func(at float64)) {
		every := []int{1, 2, 3, 5}[random.IntN(4)]
		late := (2*random.Float64() - 1) / 100
		for w := every; w <= max(e.windows, every); w += every {
			at := window * (float64(w) + late)
			for cost := float64(limit.Count) * (0.5 + random.Float64()); cost > 0; cost -= float64(e.cost) {
				add(at)
				at += gap * random.ExpFloat64()
			}
		}
	})
}
