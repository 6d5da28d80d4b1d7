package layers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/layers"
)

func TestLayers(t *testing.T) {
	const text = "100/1m+5/1s+1/100ms"
	limits, err := weir.ParseLimits(text)
	require.NoError(t, err)
	require.Equal(t, text, layers.Text(limits))
	require.Equal(t, "gcra+5/1s+1/100ms", layers.Under(algorithms.GCRA(nil), limits[1:]).String())
	require.Equal(t, algorithms.GCRA(nil), layers.Under(algorithms.GCRA(nil), nil))
}
