package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
)

// boaster declares a bound that is one lower than the truth.
type boaster struct{ weir.Algorithm }

func (b boaster) Shape(l weir.Limit) (weir.Shape, error) {
	shape, err := b.Algorithm.Shape(l)
	shape.Guarantee.MaxInWindow--
	return shape, err
}

func TestAProofThatFails(t *testing.T) {
	p, err := prove(boaster{algorithms.FixedWindow()})
	require.NoError(t, err)
	require.False(t, p.Holds)
	require.Equal(t, exitFailed, exitCode(p.broken))
	require.EqualError(t, p.broken, "worst: fixed-window at 3 per 7 ticks: max in window: declared 5, found 6")
	var b bytes.Buffer
	require.NoError(t, writeProofs(&b, formatText, []proof{p}))
	require.Regexp(t, `(?m)^ fixed-window +3 +7 +5 / 6 .* NO$`, b.String())
}
