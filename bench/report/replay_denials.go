package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/insight"
	"github.com/weirlimits/weir/internal/digits"
)

// once are the results with denials, those of an algorithm that denied alike on every store as one.
func (r *Replay) once() (all []bench.ReplayResult) {
	of := func(res bench.Result) bench.ReplayResult {
		i := slices.IndexFunc(r.Results.Results, func(one bench.ReplayResult) bool {
			return one.Algorithm == res.Algorithm && (one.Store == res.Store || res.Store == everyStore && one.Unsupported == nil)
		})
		return r.Results.Results[i]
	}
	alike := func(a, b bench.Result) bool {
		one, other := of(a), of(b)
		return reflect.DeepEqual(one.Denials, other.Denials) && reflect.DeepEqual(one.MostDenied, other.MostDenied)
	}
	for _, res := range decidedAlike(r.AsResults().Results, alike) {
		if one := of(res); one.Denials != nil {
			one.Store = res.Store
			all = append(all, one)
		}
	}
	return all
}

// mostNamed is how many clients text names; a page has a table of all that the results name.
const mostNamed = 3

// mostHours is how many hours of the day are named.
const mostHours = 3

// denials tell how many were denied, for how long and when; in text also who, those denied most.
func (r *Replay) denials(detail bool) grid {
	t := grid{id: "denials", title: "Who was denied, how long and when", groups: []group{
		{title: "denied", columns: []column{{title: "clients"}, {title: "of all"}, {title: "requests"}}},
		{title: "locked out", columns: []column{{title: "longest"}, {title: "in all"}}},
		{columns: []column{{title: "busiest hours, UTC (denied)", words: true, fold: 36}}},
	}}
	if !detail {
		t.groups = append(t.groups, group{columns: []column{{title: "denied most (of all requests)", words: true, fold: 66}}})
	}
	for _, one := range r.once() {
		d := one.Denials
		to := newRow(one.Algorithm, one.Store, nil, "")
		to.cells = []cell{
			number(digits.Group(d.Clients), float64(d.Clients)), number(share(d.ClientsShare), d.ClientsShare),
			number(share(d.RequestShare), d.RequestShare), number(micros(float64(d.LongestUS)), float64(d.LongestUS)),
			number(micros(float64(d.LockedOutUS)), float64(d.LockedOutUS)), words(busiest(d.Hours)),
		}
		if !detail {
			to.cells = append(to.cells, words(named(one.MostDenied)))
		}
		t.rows = append(t.rows, to)
	}
	return t
}

// busiest names the hours with most denied requests: "13 h (412), 9 h (90)".
func busiest(hours [24]int64) string {
	var order []int
	for hour, n := range hours {
		if n > 0 {
			order = append(order, hour)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hours[b], hours[a]) })
	var names []string
	for _, hour := range order[:min(len(order), mostHours)] {
		names = append(names, fmt.Sprintf("%02d h (%s)", hour, digits.Group(hours[hour])))
	}
	return strings.Join(names, ", ")
}

func named(clients []insight.Client) string {
	var names []string
	for _, c := range clients[:min(len(clients), mostNamed)] {
		names = append(names, fmt.Sprintf("%s (%s of %s)", shortened(printable(c.Key)), digits.Group(c.Denied), digits.Group(c.Requests)))
	}
	return strings.Join(names, ", ")
}

// worst has a row of each client that was denied most.
func (r *Replay) worst() grid {
	t := grid{id: "worst", title: "Denied most, by client", groups: []group{
		{columns: []column{{title: "client", words: true}, {title: "denied"}, {title: "of requests"}}},
		{title: "denied (UTC)", columns: []column{{title: "first", words: true}, {title: "last", words: true}}},
		{title: "locked out", columns: []column{{title: "longest"}, {title: "in all"}}},
	}}
	for _, one := range r.once() {
		for _, c := range one.MostDenied {
			to := newRow(one.Algorithm, one.Store, nil, "")
			to.cells = []cell{
				words(shortened(printable(c.Key))), number(digits.Group(c.Denied), float64(c.Denied)),
				number(digits.Group(c.Requests), float64(c.Requests)), words(moment(c.FirstDeniedUS)), words(moment(c.LastDeniedUS)),
				number(micros(float64(c.LongestUS)), float64(c.LongestUS)), number(micros(float64(c.LockedOutUS)), float64(c.LockedOutUS)),
			}
			t.rows = append(t.rows, to)
		}
	}
	return t
}

// moment is a time in microseconds since the Unix epoch, in UTC.
func moment(us int64) string { return time.UnixMicro(us).UTC().Format(time.DateTime) }

// overTime has a column for each step of the trace's span.
func (r *Replay) overTime() grid {
	span := r.Results.Span
	t := grid{id: "over-time", title: "Denied over time (UTC), in steps of " + windowText(span.StepUS)}
	var columns []column
	for i := range span.Requests {
		columns = append(columns, column{title: moment(span.StartUS + int64(i)*span.StepUS)})
	}
	return r.countsOf(t, columns, func(d *insight.Denials) []int64 { return d.OverTime })
}

// hours has a column for each hour of the day.
func (r *Replay) hours() grid {
	var columns []column
	for hour := range 24 {
		columns = append(columns, column{title: fmt.Sprintf("%02d h", hour)})
	}
	return r.countsOf(grid{id: "hours", title: "Denied by hour of the day, UTC"}, columns, func(d *insight.Denials) []int64 { return d.Hours[:] })
}

func (r *Replay) countsOf(t grid, columns []column, of func(*insight.Denials) []int64) grid {
	t.groups = []group{{columns: columns}}
	for _, one := range r.once() {
		to := newRow(one.Algorithm, one.Store, nil, "")
		for _, n := range of(one.Denials) {
			to.cells = append(to.cells, number(digits.Group(n), float64(n)))
		}
		if len(to.cells) == len(columns) {
			t.rows = append(t.rows, to)
		}
	}
	return t
}

// shortened keeps a name that may be megabytes long from filling the page.
func shortened(name string) string {
	const most = 60
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return name
}
