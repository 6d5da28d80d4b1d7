package main

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/trace"
)

func TestAppendSeconds(t *testing.T) {
	for us, want := range map[int64]string{
		0: "0", 1: "0.000001", 10: "0.00001", 1_500_000: "1.5", 1_000_000: "1",
		971_211_336_000_001: "971211336.000001", math.MaxInt64: "9223372036854.775807",
	} {
		require.Equal(t, want, string(appendSeconds(nil, us)))
	}
}

func TestDecisionIsJSON(t *testing.T) {
	line := appendDecision(nil, bench.Decided{
		Algorithm: "gcra,burst=2", Store: "memory:",
		Event:    trace.Event{Time: 1_500_000, Key: "a\"\n\xff<b>", Cost: 3},
		Decision: weir.Decision{Limit: 2, Remaining: 1, RetryAfter: weir.Never, ResetAfter: 250 * time.Millisecond},
	})
	require.Equal(t, byte('\n'), line[len(line)-1])
	var got map[string]any
	require.NoError(t, json.Unmarshal(line, &got))
	require.Equal(t, map[string]any{
		"algorithm": "gcra,burst=2", "store": "memory:", "time": 1.5, "key": "a\"\n\uFFFD<b>", "cost": 3.0, "allowed": false,
		"limit": 2.0, "remaining": 1.0, "retry_after": -1.0, "reset_after": 0.25,
	}, got)
}
