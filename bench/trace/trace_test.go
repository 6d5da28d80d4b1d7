package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/trace"
)

// read reads a trace that has to be readable, and checks what is true of every trace.
func read(t *testing.T, text string, opts *trace.Options) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(text), "test", opts)
	require.NoError(t, err)
	requireSound(t, tr)
	return tr
}

func requireSound(t *testing.T, tr *trace.Trace) {
	t.Helper()
	require.Equal(t, tr.Lines, len(tr.Events)+tr.Skipped+tr.Bad+tr.Unmatched+tr.Late, "every line is in one account")
	require.Equal(t, tr.Bad > 0, tr.FirstBad != "", "the first bad line is explained")
	keys := map[string]bool{}
	for i, e := range tr.Events {
		require.False(t, i > 0 && e.Time < tr.Events[i-1].Time, "events are in order")
		require.GreaterOrEqual(t, e.Time, int64(0))
		require.GreaterOrEqual(t, e.Cost, int64(0))
		require.NotEmpty(t, e.Key)
		require.Zero(t, e.Time%tr.Resolution.Microseconds(), "the resolution divides every time")
		keys[e.Key] = true
	}
	require.Equal(t, len(keys), tr.Keys)
	require.Equal(t, tr.Events[0].Time, tr.Start)
	require.Equal(t, tr.Events[len(tr.Events)-1].Time, tr.End)
	require.Contains(t, []string{"clf", "combined", "csv", "ndjson"}, tr.Format)
}

// fails returns the error of a trace that must not be readable; it is one line and names the package and the file.
func fails(t *testing.T, text string, opts *trace.Options) string {
	t.Helper()
	_, err := trace.Read(strings.NewReader(text), "test", opts)
	require.Error(t, err)
	require.True(t, strings.HasPrefix(err.Error(), "trace: "), err)
	require.NotContains(t, err.Error(), "\n")
	return err.Error()
}

func times(tr *trace.Trace) (at []int64) {
	for _, e := range tr.Events {
		at = append(at, e.Time)
	}
	return at
}

func keys(tr *trace.Trace) (names []string) {
	for _, e := range tr.Events {
		names = append(names, e.Key)
	}
	return names
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestFormatIsDetectedByTheFirstReadableLine(t *testing.T) {
	for want, text := range map[string]string{
		"clf":      "junk\n\nh - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1\n",
		"combined": "junk\nh - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1 \"-\" \"a\"\n1,b\n",
		"csv":      "\xef\xbb\xbfkey,time\nalice,1\n",
		"ndjson":   "{\"time\":\n{\"time\":1,\"key\":\"a\"}",
	} {
		require.Equal(t, want, read(t, text, nil).Format)
	}
	require.Equal(t, "csv", read(t, "# made by hand\n5,alice\n", nil).Format)
}

func TestLinesOutOfOrder(t *testing.T) {
	text := "10,a\n12,b\n11,c\n11,d\n12,e\n1.999999,late\n2,f\n"
	tr := read(t, text, &trace.Options{Horizon: 10 * time.Second})
	require.Equal(t, []string{"f", "a", "c", "d", "b", "e"}, keys(tr), "sorted, and stable where times are equal")
	require.Equal(t, 1, tr.Late, "exactly the horizon back is still good")
	require.Equal(t, 2, tr.Backward)
	require.Equal(t, 6, tr.Keys, "a dropped line's key does not count")
	require.Len(t, tr.Warnings, 1)
	require.Contains(t, tr.Warnings[0], "line 2, 1970-01-01T00:00:12Z")

	require.Equal(t, 4, read(t, text, &trace.Options{Horizon: 1}).Late, "no step back is tolerated")
	require.Equal(t, 1, read(t, "86400.5,a\n0.4,b\n0.5,c\n", nil).Late, "24 hours by default")
}

func TestGzipIsDetectedByContent(t *testing.T) {
	tr, err := trace.Open(write(t, "plain.log", zip(t, "1,a\n2,b\n")), nil)
	require.NoError(t, err)
	require.Len(t, tr.Events, 2)

	tr, err = trace.Open(write(t, "plain.gz", []byte("1,a\n2,b\n")), nil)
	require.NoError(t, err)
	require.Len(t, tr.Events, 2)

	two := append(zip(t, "1,a\n"), zip(t, "2,b\n")...)
	tr, err = trace.Read(bytes.NewReader(two), "two", nil)
	require.NoError(t, err)
	require.Len(t, tr.Events, 2, "logs joined after they were compressed")
}

func TestCutGzipKeepsWhatCameBefore(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d,client-%d\n", i, i*i*7919%10_007)
	}
	whole := zip(t, text.String())
	tr, err := trace.Read(bytes.NewReader(whole[:len(whole)/2]), "cut", nil)
	require.NoError(t, err)
	requireSound(t, tr)
	require.Greater(t, len(tr.Events), 1000)
	require.Less(t, len(tr.Events), 20_000)
	require.Len(t, tr.Warnings, 1)
	require.Contains(t, tr.Warnings[0], fmt.Sprintf("after line %d (unexpected EOF)", tr.Lines))

	trailing := append(zip(t, "1,a\n"), "rubbish after the end"...)
	tr, err = trace.Read(bytes.NewReader(trailing), "trailing", nil)
	require.NoError(t, err)
	require.Len(t, tr.Events, 1)
	require.Len(t, tr.Warnings, 1)

	for _, n := range []int{2, 9, 12} {
		require.Contains(t, fails(t, string(whole[:n]), nil), "gzip")
	}
}

func TestUnreadableFilesFailInOneLine(t *testing.T) {
	_, err := trace.Open(filepath.Join(t.TempDir(), "none"), nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Regexp(t, `^trace: open .*none: no such file or directory$`, err.Error())

	_, err = trace.Open(t.TempDir(), nil)
	require.ErrorContains(t, err, "is a directory; valid is a file, or - for standard input")

	broken := errors.New("the disk is on fire")
	_, err = trace.Read(iotest.ErrReader(broken), "disk", nil)
	require.ErrorIs(t, err, broken)

	for text, want := range map[string]string{
		"":                                "trace: test: is empty; valid is an access log line",
		"\n \r\n":                         "trace: test: holds only blank lines or a header",
		"time,key\n":                      "trace: test: holds only blank lines or a header",
		"\x7fELF\x00\x01\nx":              "trace: test: no good line in 2; line 1: binary data is in no known format; valid is",
		"hello\nworld":                    `trace: test: no good line in 2; line 1: text "hello" is in no known format; valid is`,
		"\x28\xb5\x2f\xfd....":            "trace: test: is compressed with zstd; valid is plain text or gzip",
		"BZh91AY&SY":                      "trace: test: is compressed with bzip2",
		"\xff\xfe1\x00,\x00":              "trace: test: is UTF-16; valid is UTF-8",
		"time,key\n-1,a\n":                `trace: test: no good line in 2; line 2: time "-1" must not be before 1970`,
		`{"time":1}` + "\n":               `trace: test: no good line in 1; line 1: member "key" must be a string that is not empty, or a number`,
		"time,ip\n1,a\n":                  `trace: test: Options.Key: there is no column "key"; the header has "time,ip"`,
		strings.Repeat("x", 1_000) + "\n": "xxxx\"... is in no known format",
	} {
		require.Contains(t, fails(t, text, nil), want)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	const log = "h - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1\n"
	for want, opts := range map[string]trace.Options{
		`Options.Format "xml" is unknown; valid is "clf", "combined", "csv", "ndjson"`: {Format: "xml"},
		`Options.Horizon -1s is negative`:                                              {Horizon: -time.Second},
		`Options.Match "POST" is not a path`:                                           {Match: "POST"},
		`Options.Match "/a?b" is not a path`:                                           {Match: "/a?b"},
		`Options.Match "GET /a b" is not a path`:                                       {Match: "GET /a b"},
		`Options.Match "  " is not a path`:                                             {Match: "  "},
		`Options.Key "ip" is no field of an access log; valid is host, user`:           {Key: "ip"},
		`no event: 1 of 1 lines are good, none matches "/login"`:                       {Match: "/login"},
	} {
		require.Contains(t, fails(t, log, &opts), want)
	}
}

func TestLongLines(t *testing.T) {
	key := strings.Repeat("k", 3<<20)
	tr := read(t, "1,a\n2,"+key+"\r\n3,c", nil)
	require.Equal(t, []string{"a", key, "c"}, keys(tr))

	tr = read(t, "1,a\n2,"+strings.Repeat("k", 17<<20)+"\n3,c", nil)
	require.Equal(t, []string{"a", "c"}, keys(tr))
	require.Equal(t, "line 2: text must be no longer than 16 MiB", tr.FirstBad)
}

func TestAnonymize(t *testing.T) {
	const text = "broken secret-client\n1,alice\n2,bob\n3,alice\n"
	salted := &trace.Options{Anonymize: true, Salt: []byte("pepper")}
	tr := read(t, text, salted)
	require.Regexp(t, "^[0-9a-f]{16}$", tr.Events[0].Key)
	require.Equal(t, tr.Events[0].Key, tr.Events[2].Key)
	require.NotEqual(t, tr.Events[0].Key, tr.Events[1].Key)
	require.NotContains(t, tr.FirstBad, "secret-client")
	require.NotContains(t, fails(t, "broken secret-client\n", salted), "secret-client")

	require.Equal(t, keys(tr), keys(read(t, text, salted)), "the same salt gives the same tokens")
	once := read(t, text, &trace.Options{Anonymize: true})
	again := read(t, text, &trace.Options{Anonymize: true})
	require.NotEqual(t, keys(once), keys(again), "without a salt each trace has its own")
}

func TestResolution(t *testing.T) {
	series := func(start, step float64, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%.6f,a\n", start+step*float64(i))
		}
		return b.String()
	}
	for _, c := range []struct {
		text string
		want time.Duration
	}{
		{"1.000001,a\n", time.Microsecond},
		{"1.5,a\n2.25,a\n", 10 * time.Millisecond},
		{"1.5,a\n", 100 * time.Millisecond},
		{"0,a\n", time.Second},
		{"0,a\n3600,a\n", time.Second},
		{series(0, 1, 20), time.Second},
		{series(10, 10, 9), time.Second},
		{series(10, 10, 10), 10 * time.Second},
		{series(0, 60, 12), time.Minute},
		{strings.Repeat("3600,a\n", 20), time.Second},
		{"h - - [10/Oct/2000:13:00:00 +0000] \"GET /\"\n", time.Second},
		{"h - - [10/Oct/2000:13:00:00.120 +0000] \"GET /\"\n", 10 * time.Millisecond},
	} {
		require.Equal(t, c.want, read(t, c.text, nil).Resolution, c.text)
	}
	tr := read(t, "0,a\n", nil)
	require.True(t, tr.CoarseFor(9999*time.Millisecond))
	require.False(t, tr.CoarseFor(10*time.Second))
}
