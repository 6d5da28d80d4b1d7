package boltstore

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/conformance"
	"github.com/weirlimits/weir/store"
)

//go:generate go test -run ^TestWalk$ . -args -update

var update = flag.Bool("update", false, "rewrite the blocks of docs/writing-a-store.md")

const walk = "../../docs/writing-a-store.md"

// block is a fenced block and the comment before it that says where it comes from:
// "code: file name" or "output: name".
var block = regexp.MustCompile("(?ms)^<!-- (code|output): (.+?) -->\n```([a-z]*)\n.*?^```$")

// TestWalk holds the blocks of the walk to the sources and to what the suite says.
func TestWalk(t *testing.T) {
	before, err := os.ReadFile(walk)
	require.NoError(t, err)
	first := conclusive(t, []weir.Algorithm{}, func(s *Store) store.Store { return firstAttempt{s} })
	i := slices.IndexFunc(first.Results, func(r conformance.Result) bool { return r.Check == racing })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, conformance.Fail, first.Results[i].Status, "the walk says so")
	right := conclusive(t, nil, func(s *Store) store.Store { return s })
	require.NoError(t, right.Err())
	_, hidden := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 1, Window: time.Second}, hiding{new(Store)}, nil)
	require.Error(t, hidden)
	outputs := map[string]string{"first attempt": failures(first), "store": summary(right), "hiding": hidden.Error()}
	after := block.ReplaceAllStringFunc(string(before), func(whole string) string {
		m := block.FindStringSubmatch(whole)
		text := outputs[m[2]]
		if file, name, _ := strings.Cut(m[2], " "); m[1] == "code" {
			text = source(t, file, name)
		}
		require.NotEmpty(t, text, m[2])
		return fmt.Sprintf("<!-- %s: %s -->\n```%s\n%s\n```", m[1], m[2], m[3], strings.TrimSpace(text))
	})
	require.Equal(t, 2*len(block.FindAllString(after, -1)), strings.Count(after, "\n```"), "every fenced block says where it comes from")
	if *update {
		require.NoError(t, os.WriteFile(walk, []byte(after), 0o644))
		return
	}
	is, want := strings.Split(string(before), "\n"), strings.Split(after, "\n")
	for i := range min(len(is), len(want)) {
		require.Equalf(t, want[i], is[i], "line %d of the walk; go generate rewrites it", i+1)
	}
	require.Len(t, is, len(want))
}

// conclusive repeats check while the machine is too slow to tell.
func conclusive(t *testing.T, which []weir.Algorithm, wrap func(*Store) store.Store) *conformance.Report {
	report := check(t, which, wrap)
	for range 4 {
		if report.Count(conformance.Inconclusive) == 0 {
			break
		}
		report = check(t, which, wrap)
	}
	return report
}

// check runs the suite on the store as wrap returns it. Nil algorithms mean all.
func check(t *testing.T, which []weir.Algorithm, wrap func(*Store) store.Store) *conformance.Report {
	report, err := conformance.Check(t.Context(), conformance.Config{
		Open: func(context.Context) (store.Store, error) {
			st, err := Open(filepath.Join(t.TempDir(), "limits.db"), &bbolt.Options{NoSync: true})
			if err != nil {
				return nil, err
			}
			return wrap(st), nil
		},
		Algorithms: which,
	})
	require.NoError(t, err)
	return report
}

// measured is how long a check saw a key live, which no two runs agree on.
var measured = regexp.MustCompile(`still there [0-9.]+m?s`)

// racing is a check of calls that meet, of whose histories no two runs are alike.
const racing = "counter/linearizable"

// failures are the rules that the report found broken, as a test prints them.
func failures(r *conformance.Report) string {
	var b strings.Builder
	for _, one := range r.Results {
		if one.Status >= conformance.OverClaimed && one.Check != racing {
			fmt.Fprintln(&b, strings.ReplaceAll(one.String(), "\t", "    "))
		}
	}
	return measured.ReplaceAllString(b.String(), "still there …")
}

// summary is the worst status of each group of checks, and why it is no pass.
func summary(r *conformance.Report) string {
	worst := map[string]conformance.Result{}
	var groups []string
	for _, one := range r.Results {
		group := one.Check
		if i := strings.LastIndexByte(group, '/'); i >= 0 {
			group = group[:i]
		}
		so, seen := worst[group]
		if !seen {
			groups = append(groups, group)
		}
		if !seen || one.Status > so.Status {
			worst[group] = one
		}
	}
	lines := []string{fmt.Sprintf("%s (%s): %s", r.Store, r.Traits.Class(), r.Traits.Capabilities)}
	for _, group := range groups {
		line := fmt.Sprintf("%s: %s: %s", group, worst[group].Status, worst[group].Detail)
		lines = append(lines, strings.TrimSuffix(line, ": "))
	}
	return strings.Join(lines, "\n")
}

// source returns a declaration as it stands in the file. A method is named Type.Method.
func source(t *testing.T, file, name string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, decl := range tree.Decls {
		if nameOf(decl) == name {
			return string(text[files.Position(decl.Pos()).Offset:files.Position(decl.End()).Offset])
		}
	}
	require.Failf(t, "no such declaration", "%s in %s", name, file)
	return ""
}

func nameOf(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		return strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*") + "." + d.Name.Name
	case *ast.GenDecl:
		switch s := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return s.Name.Name
		case *ast.ValueSpec:
			return s.Names[0].Name
		}
	}
	return ""
}
