package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench"
)

// drawing is a picture as charts.js reads it.
type drawing struct {
	Kind   string `json:"kind"`
	Panels []struct {
		Title  string `json:"title"`
		Height int    `json:"height"`
		Series []struct {
			Name   string `json:"name"`
			Look   int    `json:"look"`
			NA     string `json:"na"`
			Points []struct {
				X    *float64 `json:"x"`
				Y    *float64 `json:"y"`
				Text string   `json:"text"`
			} `json:"points"`
		} `json:"series"`
	} `json:"panels"`
}

var (
	figureIDs = regexp.MustCompile(`<figure id="([^"]+)"`)
	findings  = regexp.MustCompile(`(?s)<figcaption>\s*<h2>(.*?)</h2>`)
	chartData = regexp.MustCompile(`(?s)<script type="application/json" id="chart-data">(.*?)</script>`)
)

func submatches(re *regexp.Regexp, page string) (all []string) {
	for _, m := range re.FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

func drawings(t *testing.T, page string) (all []drawing) {
	t.Helper()
	data := submatches(chartData, page)
	require.Len(t, data, 1)
	require.NoError(t, json.Unmarshal([]byte(data[0]), &all))
	return all
}

func TestChartsOfEverythingMeasured(t *testing.T) {
	page, err := render(full(), "html")
	require.NoError(t, err)
	require.Equal(t, []string{
		"frontier", "denied", "boundary-chart", "wrong-chart", "memory-chart", "speed", "latency", "server", "wire", "stall-chart", "events-chart",
		"keys-chart", "callers-chart", "open-chart",
	}, submatches(figureIDs, page))
	require.Equal(t, []string{
		"sliding-log on redis:private keeps to 10 in any window, for 4,000 bytes per key.",
		"None denied a request that there was room for.",
		"fixed-window let 20 through in one window, 2 times the limit; sliding-log kept to 10.",
		"How often an algorithm is wrong depends on the traffic: at worst 2.2% of decisions, by fixed-window in boundary.",
		"From 1 to 100 events, a key of sliding-log on redis:private grew 20-fold, from 200 bytes to 4,000 bytes.",
		"Fastest: fixed-window on redis:private (120,000 a second; 1 more within the spread).",
		"One decision in a hundred takes longer than 900us on redis:private.",
		"On redis:private, fixed-window took 6us of the server&#39;s time and gcra 18us: 3 times as much.",
		"On redis:private, fixed-window took 190 bytes on the wire and gcra 270: 1.4 times as much.",
		"One decision of fixed-window on redis:private on a key of 100,000 events held everybody else up for 20ms, against 90us when idle.",
		"From 1 to 1,000 events in its key, a decision of gcra on redis:private grew 3-fold, from 30us to 90us.",
		"From 1,000 to 1,000,000 keys in the store, a decision grew by less than a tenth everywhere.",
		"From 1 to 64 callers, the rate of fixed-window on redis:private grew 4.5-fold, from 20,000 a second to 90,000 a second.",
		"At the highest rate, 99 of 100 requests were answered within 200us (fixed-window) to 600us (gcra) on redis:private.",
	}, submatches(findings, page))
	for _, id := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		require.Contains(t, page, `id="`+id[1]+`"`, "every link leads somewhere")
	}
}

func TestChartsDrawEveryNumber(t *testing.T) {
	page, err := render(full(), "html")
	require.NoError(t, err)
	panels := 0
	for i, d := range drawings(t, page) {
		for j, p := range d.Panels {
			require.Positive(t, p.Height)
			require.NotEmpty(t, p.Series)
			for _, s := range p.Series {
				require.NotNil(t, s.Points, "%d %d", i, j)
				require.True(t, len(s.Points) > 0 || s.NA != "", "%s: points, or why not", s.Name)
				for _, at := range s.Points {
					require.NotNil(t, at.X)
					require.NotNil(t, at.Y)
					require.NotEmpty(t, at.Text)
				}
			}
			require.Contains(t, page, fmt.Sprintf(`data-picture="%d" data-panel="%d"`, i, j))
			panels++
		}
	}
	require.Equal(t, panels, strings.Count(page, `class="chart"`))
}

func TestChartsSayWhatIsMissing(t *testing.T) {
	r := full()
	r.Results[4].Store = "redis:private"
	r.Results[4].Algorithm = "ring-log"
	page, err := render(r, "html")
	require.NoError(t, err)
	require.Contains(t, page, "Not here: gcra: failed; ring-log: needs sorted set &#43; script.")
	require.Contains(t, page, "Without figures: memcache:private: n/a (stand-in).")
}

func TestTablesOfCostAndGrowth(t *testing.T) {
	text, err := render(full(), "text")
	require.NoError(t, err)
	require.Regexp(t, `fixed-window +│ redis:private +│ +1  │ +3\* │ +6us\* │ +150  │ +40\*\n`, text)
	require.Regexp(t, `gcra +│ redis:private +│ +1  │ +5  │ +18us  │ +150  │ +120\n`, text)
	require.Regexp(t, `fixed-window +│ redis:private │ 100,000 +│ +20ms  │ +90us\n`, text)
	require.Contains(t, text, "Growth with events: ")
	require.Regexp(t, `sliding-log +│ where it runs │ +10\* │ +10  │ +20\n`, text)
	_, stalls, _ := strings.Cut(text, "Stalls: ")
	stalls, _, _ = strings.Cut(stalls, "\n\n")
	require.NotContains(t, stalls, "memcache:private", "nothing of it was measured there")

	csv, err := render(full(), "csv")
	require.NoError(t, err)
	for _, line := range []string{
		"fixed-window,redis:private,cost,,cost_server_us,6,,",
		"fixed-window,memcache:private,cost,,cost_trips,,,n/a (stand-in)",
		"gcra,redis:private,stall,100000,stall_longest_us,6666.666666666667,,",
		"gcra,redis:private,events,1000,events_decision_us,90,,",
		"gcra,redis:private,events,1000,events_bytes_per_key,,,n/a (not told)",
		"gcra,redis:private,keys,1000000,keys_decision_ns,31000,,",
		"gcra,redis:private,callers,1,callers_per_second,20000,0.1,",
		"gcra,redis:private,open,8000,open_p99_us,600,,",
		"sliding-log,redis:private,boundary,,boundary_most,10,,",
	} {
		require.Contains(t, csv, line+"\n")
	}
}

func TestNoChartsWithoutNumbers(t *testing.T) {
	r := measured()
	for i := range r.Results {
		r.Results[i].Precision, r.Results[i].Memory, r.Results[i].Throughput = nil, nil, nil
	}
	page, err := render(r, "html")
	require.NoError(t, err)
	require.NotContains(t, page, "<figure")
	require.NotContains(t, page, "Apache ECharts", "nobody carries a library for nothing")
}

func TestChartDataIsNoMarkup(t *testing.T) {
	const breakOut = `</script><img src=x onerror=alert(1)><!--<script>` + "\u2028" + `"]}`
	r := full()
	for i := range r.Results {
		r.Results[i].Algorithm = breakOut + strconv.Itoa(i)
		r.Results[i].Store = breakOut
		r.Results[i].Unsupported = nil
		r.Results[i].Precision = map[string]bench.Precision{breakOut: {Events: 10, MaxInWindow: 10, FalseDenied: 1}}
	}
	page, err := render(r, "html")
	require.NoError(t, err)
	plain, err := render(full(), "html")
	require.NoError(t, err)
	require.Equal(t, strings.Count(plain, "</script>"), strings.Count(page, "</script>"))
	require.NotContains(t, page, "<img src=x")
	found := false
	for _, d := range drawings(t, page) {
		for _, p := range d.Panels {
			for _, s := range p.Series {
				found = found || strings.Contains(s.Name, "</script><img src=x onerror=alert(1)>")
			}
		}
	}
	require.True(t, found, "the data holds the name as it is")
}

func TestLead(t *testing.T) {
	page, err := render(full(), "html")
	require.NoError(t, err)
	require.Contains(t, page, `<p class="lead">At 10/1s, 1 of 3 algorithms never let more than 10 through in any window: sliding-log. `+
		`At worst, fixed-window let 20. Smallest of those that keep to the limit, at 100 events per key: `+
		`on redis:private, sliding-log with 4,000 bytes and no false denial.</p>`)
}

// TestColoursAreReadable holds all colours of text and shapes against the page, by WCAG 2.2: 4.5 to 1.
func TestColoursAreReadable(t *testing.T) {
	css, err := os.ReadFile("page.css")
	require.NoError(t, err)
	light, dark, found := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	require.True(t, found)
	dark, _, _ = strings.Cut(dark, "* {")
	for name, scheme := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]+)`).FindAllStringSubmatch(scheme, -1) {
			colours[m[1]] = m[2]
		}
		require.Len(t, colours, 18, name)
		for _, c := range []string{"ink", "dim", "best", "over", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"} {
			require.GreaterOrEqual(t, contrast(t, colours[c], colours["paper"]), 4.5, "%s: %s", name, c)
		}
		require.GreaterOrEqual(t, contrast(t, colours["warn"], colours["warn-band"]), 4.5, name)
		require.GreaterOrEqual(t, contrast(t, colours["dim"], colours["band"]), 4.5, name)
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) float64 {
		hex := strings.TrimPrefix(colour, "#")
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		n, err := strconv.ParseUint(hex, 16, 32)
		require.NoError(t, err)
		part := func(shift int) float64 {
			v := float64(n>>shift&255) / 255
			if v <= 0.04045 {
				return v / 12.92
			}
			return math.Pow((v+0.055)/1.055, 2.4)
		}
		return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
	}
	high, low := luminance(a), luminance(b)
	if high < low {
		high, low = low, high
	}
	return (high + 0.05) / (low + 0.05)
}

// TestLibraryIsTheNamedOne keeps echarts/make and what it made together.
func TestLibraryIsTheNamedOne(t *testing.T) {
	named, err := os.ReadFile("echarts/package.json")
	require.NoError(t, err)
	var versions struct{ Dependencies map[string]string }
	require.NoError(t, json.Unmarshal(named, &versions))
	library, err := os.ReadFile("echarts/echarts.min.js")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(library), "/*! Apache ECharts "+versions.Dependencies["echarts"]+", Copyright"))
	require.NotContains(t, string(library), "</script")
	require.NotContains(t, string(library), "<!--")
	licence, err := os.ReadFile("echarts/LICENSE")
	require.NoError(t, err)
	for _, part := range []string{"Apache License", "ZRender", "d3", "tslib"} {
		require.Contains(t, string(licence), part)
	}
}
