package memory

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A new key never moves more than its own shard's keys, and a shard seldom moves them.
func TestGrowthIsOneShardsAtATime(t *testing.T) {
	for _, compact := range []bool{false, true} {
		const keys = 60_000
		s := New(&Options{Compact: compact})
		defer s.Close()
		ctx, table := context.Background(), s.raw
		sizes := make([]int, len(table.shards))
		moved, most := 0, 0
		for i := range keys {
			_, err := s.Add(ctx, fmt.Sprint("key-", i), 1, time.Hour)
			require.NoError(t, err)
			grown := 0
			for n := range table.shards {
				if sh := &table.shards[n]; len(sh.bytes) != sizes[n] {
					sizes[n] = len(sh.bytes)
					grown++
					moved += int(sh.count) - 1
					most = max(most, int(sh.count)-1)
				}
			}
			require.LessOrEqual(t, grown, 1)
		}
		require.Less(t, most, 2*keys/shardCount)
		require.Less(t, moved, 24*keys, "compact=%t", compact)
		verify(t, table, "grown")
	}
}

// Where records become longer than the table was made for, it grows before a search has
// to go far.
func TestLongerRecordsDoNotCrowd(t *testing.T) {
	s := New(nil)
	defer s.Close()
	ctx := context.Background()
	for i := range 40_000 {
		_, err := s.Add(ctx, fmt.Sprint(i), 1, time.Hour)
		require.NoError(t, err)
	}
	for i := range 80_000 {
		_, err := s.Add(ctx, fmt.Sprintf("%0110d", i), 1, time.Hour)
		require.NoError(t, err)
	}
	verify(t, s.raw, "mixed")
	passed, buckets := 0, 0
	for n := range s.raw.shards {
		for i := range s.raw.shards[n].n {
			passed += int(s.raw.shards[n].bucket(i).passed())
			buckets++
		}
	}
	require.Less(t, passed, 2*buckets)
}
