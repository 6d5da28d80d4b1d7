package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const docs = "../../docs"

// The page and its pictures are what the results give: a figure changed by hand, in the text
// or in the results, shows here.
func TestThePageIsWhatTheResultsGive(t *testing.T) {
	files, err := render(os.DirFS(docs+"/results"), faults(t))
	require.NoError(t, err)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, name))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "docs/%s is not what docs/results give: run make docs", name)
	}
	pictures, err := filepath.Glob(docs + "/img/*.svg")
	require.NoError(t, err)
	require.Len(t, pictures, len(files)-1, "docs/img holds a picture that no page shows")
}

// faults is the table of faults.
func faults(t *testing.T) []byte {
	content, err := os.ReadFile(filepath.Join(docs, "..", faultsFile))
	require.NoError(t, err)
	return content
}

// Every word that the table of faults says stands on the page, but for what the tests alone need.
func TestEveryWordOfTheFaultsShows(t *testing.T) {
	before, err := render(os.DirFS(docs+"/results"), faults(t))
	require.NoError(t, err)
	for _, field := range []string{"fault", "sees", "over", "under", "normal"} {
		for _, at := range regexp.MustCompile(`"`+field+`": \[?"`).FindAllIndex(faults(t), -1) {
			changed := slices.Insert(bytes.Clone(faults(t)), at[1], 'Q')
			after, err := render(os.DirFS(docs+"/results"), changed)
			require.NoError(t, err)
			require.NotEqual(t, string(before["tradeoffs.md"]), string(after["tradeoffs.md"]), "%s at %d", field, at[0])
		}
	}
	_, err = render(os.DirFS(docs+"/results"), []byte(`[{"stores": "redis"}]`))
	require.ErrorContains(t, err, faultsFile)
	_, err = render(os.DirFS(docs+"/results"), []byte(`[]`))
	require.ErrorContains(t, err, "no faults of redis")
}

// Each single change of a figure in the results changes the page.
func TestEveryChangeOfTheResultsShows(t *testing.T) {
	dir := fstest.MapFS{}
	for _, name := range []string{compareFile, cageFile, peersFile} {
		content, err := os.ReadFile(filepath.Join(docs, "results", name))
		require.NoError(t, err)
		dir[name] = &fstest.MapFile{Data: content}
	}
	before, err := render(dir, faults(t))
	require.NoError(t, err)
	for name, f := range dir {
		original := f.Data
		at := regexp.MustCompile(`"(bytes_per_key|per_second)": [0-9]`).FindIndex(original)
		require.NotNil(t, at, name)
		f.Data = bytes.Clone(original)
		digit := &f.Data[at[1]-1]
		*digit = '1' + (*digit-'0')%9
		after, err := render(dir, faults(t))
		require.NoError(t, err)
		require.NotEqual(t, string(before["tradeoffs.md"]), string(after["tradeoffs.md"]), name)
		f.Data = original
	}
}

// No number stands in the template itself, but in code and in names.
func TestNoFigureIsTypedByHand(t *testing.T) {
	require.Empty(t, typed(page))
	require.Equal(t, []string{"17"}, typed("`L=10` took 17 bytes, O(1), {{n 5}}, [a](b1)"))
}

// typed returns the numbers of a template outside actions, code, targets of links and O(1).
func typed(text string) []string {
	for _, not := range []string{`\{\{[^}]*\}\}`, "`[^`]*`", `\]\([^)]*\)`, `O\(1\)`} {
		text = regexp.MustCompile(not).ReplaceAllString(text, "")
	}
	return regexp.MustCompile(`[0-9]+`).FindAllString(text, -1)
}

func TestMissingResultsAreNamed(t *testing.T) {
	_, err := render(fstest.MapFS{}, nil)
	require.ErrorContains(t, err, compareFile)
	require.ErrorContains(t, err, "make results")
	_, err = render(fstest.MapFS{compareFile: {Data: []byte(`{"version":1}`)}, cageFile: {Data: []byte("[")}}, nil)
	require.ErrorContains(t, err, cageFile)
}

func TestVerifyFindsWhatDiffers(t *testing.T) {
	old := filepath.Join(docs, "results", compareFile)
	var out strings.Builder
	require.NoError(t, verify(&out, old, old))
	require.Contains(t, out.String(), "agree")

	content, err := os.ReadFile(old)
	require.NoError(t, err)
	for field, change := range map[string]string{
		"bytes_per_key": `"bytes_per_key": 99999`, "max_in_window": `"max_in_window": 99999`, "per_second": `"per_second": 1`,
	} {
		changed := filepath.Join(t.TempDir(), "changed.json")
		once := false
		altered := regexp.MustCompile(`"`+field+`": [0-9.e+]+`).ReplaceAllStringFunc(string(content), func(s string) string {
			if once || strings.HasSuffix(s, ": 0") || field == "max_in_window" && strings.Contains(s, `": 20`) && !once {
				return s
			}
			once = true
			return change
		})
		require.NoError(t, os.WriteFile(changed, []byte(altered), 0o600))
		out.Reset()
		require.Error(t, verify(&out, old, changed), field)
		require.Contains(t, out.String(), "now", field)
	}
	require.ErrorContains(t, verify(&out, old, "none.json"), "none.json")
}
