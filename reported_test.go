package weir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testdata/reported.txt lists what was publicly reported of other limiters, one fault a line. A test
// that shows the fault's sequence, and the right answer, has the fault's number in its name:
// TestRL013CounterWithoutTTLHeals, or several, as TestRL021RL023.

var inName = regexp.MustCompile(`RL(\d{3})`)

func TestEveryReportedFaultHasATest(t *testing.T) {
	list, err := os.ReadFile("testdata/reported.txt")
	require.NoError(t, err)
	line := regexp.MustCompile(`^RL-(\d{3}) \S.*\S$`)
	var known []string
	for text := range strings.Lines(string(list)) {
		m := line.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
		require.NotNil(t, m, "want RL-NNN and what goes wrong: %q", text)
		known = append(known, m[1])
	}
	require.Len(t, known, 80)
	require.True(t, slices.IsSorted(known), "in order")
	require.Len(t, slices.Compact(slices.Clone(known)), len(known), "each once")

	tests := map[string][]string{}
	for file, names := range testFunctions(t) {
		for _, name := range names {
			for _, m := range inName.FindAllStringSubmatch(name, -1) {
				require.Contains(t, known, m[1], "%s: %s names a fault that is not on the list", file, name)
				tests[m[1]] = append(tests[m[1]], name)
			}
		}
	}
	for _, id := range known {
		require.NotEmpty(t, tests[id], "no test has RL%s in its name", id)
	}
}

// testFunctions returns the names of the tests in each test file of this module and of those below it.
func testFunctions(t *testing.T) map[string][]string {
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				found[path] = append(found[path], f.Name.Name)
			}
		}
		return nil
	}))
	return found
}
