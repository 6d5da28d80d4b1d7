package algorithms_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/storetest"
	"github.com/weirlimits/weir/store"
)

// The names of algorithms stand in the registry and in their own files, and in no other program text: so
// whatever joins the registry is in every table and run. The search for worst cases may name them,
// since it only needs to know to what a step aligns its times to be quicker; so may what judges running
// services by models of its own.
func TestNoOtherListOfNames(t *testing.T) {
	names := map[string]bool{}
	for _, e := range algorithms.Registry() {
		names[e.Name] = true
		for _, alias := range e.Aliases {
			names[alias] = true
		}
	}
	may := []string{"algorithms", filepath.Join("bench", "worst"), filepath.Join("bench", "hammer", "ask")}
	files := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel("..", path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(may, inside) || inside != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				if names[text] {
					t.Errorf("%s names %q: want it to read the registry", inside, text)
				}
			}
			return true
		})
		return nil
	}))
	require.Greater(t, files, 100)
}

// Every registered algorithm has a Lua twin, and it decides as the Go step does.
func TestEveryRegisteredAlgorithmHasItsTwin(t *testing.T) {
	for name, open := range map[string]func(testing.TB) store.Store{"miniredis": storetest.Miniredis, "redis": storetest.Redis} {
		t.Run(name, func(t *testing.T) {
			twin, home := open(t), storetest.Memory(t)
			for _, a := range algorithms.All() {
				clock := newSimClock(epoch)
				options := &weir.Options{Clock: clock.Now, Prefix: storetest.Prefix(t)}
				luaSide := newLimiter(t, a, "7/1s", twin, options)
				require.NotNil(t, luaSide.Plan().Step, a)
				require.NotEmpty(t, luaSide.Plan().Step.Lua, a)
				goSide := newLimiter(t, a, "7/1s", home, options)
				var letters strings.Builder
				for i := range int64(60) {
					clock.us.Add(i * i * 7919 % 300_000)
					want, err := goSide.Take(context.Background(), "k", i%4)
					require.NoError(t, err)
					got, err := luaSide.Take(context.Background(), "k", i%4)
					require.NoError(t, err)
					require.Equal(t, want, got, "%s, decision %d", a, i)
					letters.WriteString(letter(want))
				}
				require.Contains(t, letters.String(), "A", a)
				require.Contains(t, letters.String(), "D", a)
			}
		})
	}
}

// What an aliased name means is what its name means.
func TestAliasesAreTheSame(t *testing.T) {
	for _, e := range algorithms.Registry() {
		for _, name := range append(slices.Clone(e.Aliases), e.Name) {
			a, err := algorithms.Parse(name)
			require.NoError(t, err)
			require.Equal(t, e.Name, a.Name())
			_, err = a.Shape(weir.Limit{Count: 10, Window: time.Second})
			require.NoError(t, err)
		}
	}
}

// Runnable lists what New takes on the store, and nothing else.
func TestRunnable(t *testing.T) {
	names := func(st store.Store) (all []string) {
		for _, a := range algorithms.Runnable(st) {
			all = append(all, a.Name())
		}
		return all
	}
	require.Len(t, names(storetest.Memory(t)), len(algorithms.All()))
	require.Equal(t, []string{"fixed-window", "sliding-counter"}, names(storetest.MemcachedCounter(t)))
	require.NotContains(t, names(storetest.Memcachetest(t)), "sliding-log")
	require.Contains(t, names(storetest.Memcachetest(t)), "packed-log")
}

// What a store cannot run is refused with all that it lacks.
func TestUnsupportedNamesWhatIsMissing(t *testing.T) {
	_, err := weir.New(algorithms.SlidingLog(), weir.Limit{Count: 1, Window: time.Second}, losing{}, nil)
	var unsupported *weir.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	for _, part := range []string{"sliding-log", "losing", "sorted set", "script"} {
		require.ErrorContains(t, err, part)
	}
}
