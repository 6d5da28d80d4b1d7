package weir_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsTheExample keeps the code in README.md what the compiler has seen: the example's imports and its body.
func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found, "README.md has a block of Go")
	block, _, found = strings.Cut(block, "```")
	require.True(t, found, "and it ends")

	imports, body, found := strings.Cut(block, "\n\n")
	require.True(t, found, "the imports, an empty line, the code")
	_, code, found := strings.Cut(string(example), "func Example() {\n")
	require.True(t, found)
	code, _, found = strings.Cut(code, "\t// Output:")
	require.True(t, found)
	require.Equal(t, strings.ReplaceAll("\n"+code, "\n\t", "\n")[1:], body)
	require.LessOrEqual(t, strings.Count(body, "\n"), 15, "lines of code")
	for line := range strings.Lines(imports) {
		require.Contains(t, string(example), "\t"+strings.TrimPrefix(line, "import "))
	}
}
