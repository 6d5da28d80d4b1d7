package choose

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The principles count one after another: a later one only where the earlier leave several.
func TestOrder(t *testing.T) {
	t.Parallel()
	make := func(bytes float64, trips int, speed, over, deny float64, position int) Candidate {
		return Candidate{Bytes: Bytes{Full: bytes, Expected: bytes}, Trips: trips, Speed: Speed{PerSecond: speed}, Over: over, Deny: deny, position: position}
	}
	want := []Candidate{
		make(108, 1, 1000, 0, 0, 5),
		make(108, 1, 1000, 0, 0, 9),      // later in the tables
		make(105, 1, 900, 0, 0.1, 1),     // as fast within a quarter; denies
		make(104, 1, 900, 0.1, 0, 1),     // admits more
		make(103, 1, 500, 0, 0, 1),       // slower
		make(100, 2, 9000, 0, 0, 1),      // smaller within a tenth, but a trip more
		make(150, 1, 1_000_000, 0, 0, 1), // larger
	}
	for shift := range want {
		shuffled := slices.Concat(want[shift:], want[:shift])
		require.Equal(t, want, ordered(shuffled, tolerance{}), "rotated by %d", shift)
	}
	byOver := ordered(want, tolerance{least: func(c Candidate) float64 { return c.Over }})
	require.Equal(t, want[3], byOver[len(byOver)-1], "what is given in to is to be least")
}
