package weir_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsTheExamples keeps the code in README.md what the compiler has seen: the
// examples' imports and bodies.
func TestReadmeShowsTheExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	rest := string(readme)
	for _, file := range []string{"httplimit/example_test.go", "example_test.go"} {
		_, block, found := strings.Cut(rest, "```go\n")
		require.True(t, found, "README.md has a block of Go for %s", file)
		block, rest, found = strings.Cut(block, "```")
		require.True(t, found, "and it ends")

		example, err := os.ReadFile(file)
		require.NoError(t, err)
		imports, body, found := strings.Cut(block, "\n\n")
		require.True(t, found, "the imports, an empty line, the code")
		_, code, found := strings.Cut(string(example), "func Example() {\n")
		require.True(t, found, file)
		code, _, found = strings.Cut(code, "\n}\n")
		require.True(t, found, file)
		code, _, _ = strings.Cut(code+"\n", "\t// Output:")
		require.Equal(t, strings.ReplaceAll("\n"+code, "\n\t", "\n")[1:], body, file)
		require.LessOrEqual(t, strings.Count(body, "\n"), 15, "lines of code")
		for line := range strings.Lines(imports) {
			require.Contains(t, string(example), "\t"+strings.TrimPrefix(line, "import "))
		}
	}
	require.NotContains(t, rest, "```go", "a block that no test sees")
}
