package trace_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/trace"
)

// fuzz reads anything at all: the accounts have to be right, or the error has to be one line.
func fuzz(f *testing.F, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), "", "", false)
		f.Add([]byte(s+"\r\n\n"+s+"\x00"), "user", "POST /a*", true)
		f.Add([]byte(s+"\n"+s), "path", "/", false)
	}
	f.Fuzz(func(t *testing.T, data []byte, key, match string, detect bool) {
		opts := &trace.Options{Format: format, Key: key, Match: match, Horizon: 1e9}
		if detect {
			opts.Format = ""
		}
		tr, err := trace.Read(bytes.NewReader(data), "fuzz", opts)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "trace: "))
			require.NotContains(t, err.Error(), "\n")
			return
		}
		requireSound(t, tr)
		if data[0] != '\x1f' {
			lines := bytes.Count(data, []byte{'\n'})
			if data[len(data)-1] != '\n' {
				lines++
			}
			require.Equal(t, lines, tr.Lines)
		}
	})
}

func FuzzCLF(f *testing.F) {
	fuzz(f, "clf",
		`h - - [10/Oct/2000:13:55:36 -0700] "POST /a/b?c HTTP/1.0" 200 1`,
		`h - "" [10/Oct/2000:13:55:36.25 +0000] "\x16\x03\"" 400 - "ref\\" "agent \"x\""`,
		`::1 id john doe [29/Feb/2000:00:00:00 +0545] "GET http://x/y`,
	)
}

func FuzzCSV(f *testing.F) {
	fuzz(f, "csv",
		"1.5,a,2\n1e0,\"b\"\"\",",
		"cost,key,time,user,method,path\n1,a,2023-11-14T22:13:20.25Z,u,POST,/a\n2,\"b,0,u,GET,/",
	)
}

func FuzzNDJSON(f *testing.F) {
	fuzz(f, "ndjson",
		`{"time":1.5,"key":"a","cost":2}`,
		`{"time":"2023-11-14T22:13:20Z","key":17,"user":"\u00e9","method":"POST","path":"/a?b"}`,
	)
}

// FuzzGzip cuts and spoils a gzipped log, and reads bytes that only begin like one: what was whole counts, or
// the error is one line.
func FuzzGzip(f *testing.F) {
	line := "h - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1\n"
	f.Add([]byte(strings.Repeat(line, 50)), uint16(60), uint16(30), byte(1))
	f.Add([]byte("1,a\n2,b\n"), uint16(9999), uint16(0), byte(0))
	f.Add([]byte("\x08\x00\x00\x00\x00\x00\x00\xff"), uint16(9999), uint16(2), byte(3))
	f.Fuzz(func(t *testing.T, data []byte, cut, at uint16, flip byte) {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, err := w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		spoiled := zipped.Bytes()[:min(int(cut), zipped.Len())]
		if int(at) < len(spoiled) {
			spoiled[at] ^= flip
		}
		for _, input := range [][]byte{spoiled, append([]byte("\x1f\x8b"), data...)} {
			tr, err := trace.Read(bytes.NewReader(input), "fuzz", nil)
			if err != nil {
				require.True(t, strings.HasPrefix(err.Error(), "trace: "), err)
				require.NotContains(t, err.Error(), "\n")
				continue
			}
			requireSound(t, tr)
		}
	})
}
