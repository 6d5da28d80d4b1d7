package trace_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/trace"
)

func TestTimesAreExact(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1_000_000, "1.": 1_000_000, ".5": 500_000, "1700000000.123456": 1_700_000_000_123_456,
		"4503599627.370497": 4_503_599_627_370_497, "0.1": 100_000, "0.000001": 1, "0.0000019": 1, "1700000000.123456789": 1_700_000_000_123_456,
		"1.7e9": 1_700_000_000_000_000, "1.7E+9": 1_700_000_000_000_000, "17e-1": 1_700_000, "1e-400": 0, "0e999999999999": 0,
		"0000000000000000000000001": 1_000_000, "7289654399.999999": 7_289_654_399_999_999,
		"2023-11-14T22:13:20.25Z": 1_700_000_000_250_000, "2023-11-14T23:13:20.250000999+01:00": 1_700_000_000_250_000,
		"1970-01-01T00:00:00Z": 0, "2200-12-31T23:59:59.999999999Z": 7_289_654_399_999_999,
	} {
		require.Equal(t, []int64{want}, times(read(t, text+",a", &trace.Options{Format: "csv"})), text)
	}
	for text, rule := range map[string]string{
		"-1": "before 1970", "-0.000001": "before 1970", "1969-12-31T23:59:59Z": "before 1970",
		"7289654400": "after the year 2200", "1700000000000": "after the year 2200", "2201-01-01T00:00:00Z": "after the year 2200",
		"99999999999999999999999999": "after the year 2200", "1e400": "after the year 2200", "1e99999999999999999999": "after the year 2200",
		"": "must be seconds", "NaN": "must be seconds", "Inf": "must be seconds", "-": "must be seconds", ".": "must be seconds", "1e": "must be seconds",
		"0x10": "must be seconds", "1_000": "must be seconds", "1.2.3": "must be seconds", "--1": "must be seconds", "+1": "must be seconds",
		"1e1.5": "must be seconds", "2023-11-14": "must be seconds", "2023-11-14T22:13:20": "must be seconds", "2023-02-30T00:00:00Z": "must be seconds",
	} {
		require.Contains(t, fails(t, text+",a", &trace.Options{Format: "csv"}), rule, text)
	}
}

func TestCosts(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "": 1, " 7 ": 7, "2.0": 2, "1e3": 1000, "9223372036854775807": 9_223_372_036_854_775_807,
	} {
		require.Equal(t, want, read(t, "1,a,"+text, nil).Events[0].Cost, text)
	}
	for _, text := range []string{"-1", "1.5", "NaN", "9223372036854775808", "92233720368547758070", "1e19", "one", "1e-1"} {
		require.Contains(t, fails(t, "1,a,"+text, nil), `line 1: cost "`+text+`" must be a whole number`, text)
	}
}

func TestCSV(t *testing.T) {
	tr := read(t, " Cost, ip , TIME,key\n3,\"10.0.0.1\",1.5,\"a,\"\"b\"\"\"\r\n\n,10.0.0.2,2,c\n", nil)
	require.Equal(t, []trace.Event{{Time: 1_500_000, Key: `a,"b"`, Cost: 3}, {Time: 2_000_000, Key: "c", Cost: 1}}, tr.Events)
	require.Equal(t, 4, tr.Lines)
	require.Equal(t, 2, tr.Skipped, "the header and the blank line")

	tr = read(t, "time,key,ip\n1,a,10.0.0.1", &trace.Options{Key: "ip"})
	require.Equal(t, []string{"10.0.0.1"}, keys(tr))

	require.Equal(t, []string{"a", "b"}, keys(read(t, "1,a\n2,b,5\n", nil)), "no header")
	require.Contains(t, fails(t, "1,a\n", &trace.Options{Key: "ip"}), `Options.Key "ip" needs a header line`)
	require.Contains(t, fails(t, "1,a\n", &trace.Options{Match: "/"}), "Options.Match needs a header line")
	require.Contains(t, fails(t, "time,key,path\n1,a,/\n", &trace.Options{Match: "GET /"}), "Options.Match needs columns path")
	require.Contains(t, fails(t, "when,who\n1,a,2,3\n", &trace.Options{Format: "csv"}), "or the line must be a header with time and key")

	tr = read(t, "time,key,method,path\n1,a,POST,/login?x=1\n2,b,GET,/login\n", &trace.Options{Match: "POST /login"})
	require.Equal(t, []string{"a"}, keys(tr))
	require.Equal(t, 1, tr.Unmatched)
}

func TestABadLineSpoilsOnlyItself(t *testing.T) {
	tr := read(t, "time,key,cost\n1,a,1\n2,\"b,1\n3,c\"c,1\n4,d,1,extra\n5,,1\n6\n7,g,1\n8,\x00\xff,1\n", nil)
	require.Equal(t, []string{"a", "g", "\x00\xff"}, keys(tr))
	require.Equal(t, 5, tr.Bad)
	require.Equal(t, `line 3: text "2,\"b,1" must be CSV with each quoted field closed on its line`, tr.FirstBad)

	tr = read(t, `{"time":1,"key":"a"}`+"\n{\"time\":2,\n[1]\nnull\n"+`{"time":3,"key":"c"} {}`+"\n"+`{"time":NaN,"key":"d"}`+"\n"+`{"time":4,"key":"e"}`, nil)
	require.Equal(t, []string{"a", "e"}, keys(tr))
	require.Equal(t, 5, tr.Bad)
}

func TestNDJSON(t *testing.T) {
	tr := read(t, `{"key":"a\u0041\n","time":1.000001,"cost":3,"more":{"time":7}}
 {"time":"2","key":17.50} `+"\r"+`
{"time":"1970-01-01T00:00:03Z","key":-1e3,"cost":null}
{"time":4e0,"key":"b","cost":"5"}`, nil)
	require.Equal(t, []trace.Event{
		{Time: 1_000_001, Key: "aA\n", Cost: 3},
		{Time: 2_000_000, Key: "17.50", Cost: 1},
		{Time: 3_000_000, Key: "-1e3", Cost: 1},
		{Time: 4_000_000, Key: "b", Cost: 5},
	}, tr.Events)
	require.Equal(t, time.Microsecond, tr.Resolution)

	for line, want := range map[string]string{
		`{"time":1,"key":""}`:            `member "key" "\"\"" must be a string`,
		`{"time":1,"key":true}`:          `member "key" "true" must be a string`,
		`{"time":1,"key":["a"]}`:         `member "key"`,
		`{"time":-1,"key":"a"}`:          `time "-1" must not be before 1970`,
		`{"time":null,"key":"a"}`:        `time "null" must be seconds`,
		`{"time":1,"key":"a","cost":-1}`: `cost "-1" must be a whole number`,
		`{"time":1,"key":"a","cost":{}}`: `cost "{}" must be a whole number`,
		`{"key":"a"}`:                    `time must be seconds`,
		`["time"]`:                       `must be one JSON object`,
	} {
		require.Contains(t, fails(t, line, &trace.Options{Format: "ndjson"}), want, line)
	}

	tr = read(t, `{"time":1,"key":"a","ip":"x","method":"POST","path":"/login"}
{"time":2,"key":"b","ip":"y","path":"/login"}`, &trace.Options{Key: "ip", Match: "POST /login"})
	require.Equal(t, []string{"x"}, keys(tr))
}
