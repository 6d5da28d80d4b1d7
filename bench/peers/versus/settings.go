package versus

import (
	"time"

	"github.com/weirlimits/weir"
)

// Settings say how much is measured.
type Settings struct {
	Seed        uint64        `json:"seed"` // of the order of the keys
	Repetitions int           `json:"repetitions"`
	Interval    time.Duration `json:"interval_ns"` // of one repetition

	ServerKeys    int   `json:"server_keys"`    // of the loops on servers
	ServerCallers []int `json:"server_callers"` // their levels
	LocalKeys     []int `json:"local_keys"`     // of the loops in this process; 1 is one hot key

	ServerMemory []Load `json:"server_memory"` // at which bytes are measured on servers
	LocalMemory  []Load `json:"local_memory"`  // and in this process

	Trials int `json:"trials"` // phases of the windows in which bursts begin
	Ticks  int `json:"ticks"`  // of a window, at which what came free is taken
}

// Load is so many keys with so many requests each.
type Load struct {
	Keys   int   `json:"keys"`
	Events int64 `json:"events"`
}

// Full are the settings of a run that is reported. It takes some four minutes on two idle cores.
func Full() Settings {
	return Settings{
		Seed: 1, Repetitions: 10, Interval: 100 * time.Millisecond,
		ServerKeys: 10_000, ServerCallers: []int{1, 64, 512},
		LocalKeys:    []int{1, 10_000, 1_000_000},
		ServerMemory: []Load{{6000, 1}, {3000, 20}},
		LocalMemory:  []Load{{100_000, 1}, {1_000_000, 1}},
		Trials:       8, Ticks: 100,
	}
}

// Quick are settings of a few seconds, whose figures mean little.
func Quick() Settings {
	return Settings{
		Seed: 1, Repetitions: 2, Interval: 10 * time.Millisecond,
		ServerKeys: 200, ServerCallers: []int{1, 8},
		LocalKeys:    []int{1, 1000},
		ServerMemory: []Load{{300, 1}},
		LocalMemory:  []Load{{20_000, 1}},
		Trials:       1, Ticks: 25,
	}
}

// The limits. No request of a loop must be denied, so they are wide, where a limiter takes that.
var (
	preciseLimit = weir.Limit{Count: 50, Window: 200 * time.Millisecond}
	memoryLimit  = weir.Limit{Count: 200, Window: time.Hour}
	serverLimit  = weir.Limit{Count: 100_000, Window: time.Hour}
	localLimit   = weir.Limit{Count: 1_000_000_000, Window: time.Hour}
	// logLimit is for one hot key of a limiter that keeps an entry for each request: no more of them
	// than come in a millisecond.
	logLimit = weir.Limit{Count: 100_000, Window: time.Millisecond}
	// waitLimit is for a limiter that makes callers wait: a nanosecond.
	waitLimit = weir.Limit{Count: 1_000_000_000, Window: time.Second}
)
