package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/internal/digits"
)

// appendFact leaves out what is not known.
func appendFact(all []fact, name, value string) []fact {
	if value == "" {
		return all
	}
	return append(all, fact{strings.TrimSuffix(name, ":"), value})
}

// subject tells what was measured.
func subject(r *bench.Results) []fact {
	all := appendFact(nil, "limit", r.Limit.Text)
	for _, s := range r.Environment.Servers {
		value := s.Server
		for _, more := range []struct {
			say  bool
			what string
		}{{s.Class != "", s.Class}, {s.StandIn != "", "stand-in"}, {s.Shared, "not started by this run"}} {
			if more.say {
				value += ", " + more.what
			}
		}
		all = appendFact(all, s.Store, value)
	}
	if t := r.Trace; t != nil {
		value := fmt.Sprintf("%s (%s): %s events of %s keys, resolution %s",
			t.Name, t.Format, digits.Group(int64(t.Events)), digits.Group(int64(t.Keys)), micros(float64(t.ResolutionUS)))
		if t.Bad > 0 || t.Backward > 0 {
			value += fmt.Sprintf("; %s, %s", digits.Plural(int64(t.Bad), "bad line"), digits.Plural(int64(t.Backward), "backward step"))
		}
		all = appendFact(all, "trace", value)
	}
	if r.Clients > 0 {
		all = appendFact(all, "clients", digits.Group(r.Clients))
	}
	return all
}

// origin tells with what, where and when.
func origin(r *bench.Results) (all []fact) {
	e := r.Environment
	add := func(name, value string) { all = appendFact(all, name, value) }
	if !e.Started.IsZero() {
		add("started", e.Started.UTC().Format(time.RFC3339))
	}
	add("weir", strings.TrimSpace(e.Weir+" "+e.Commit))
	if e.Go != "" {
		add("go", fmt.Sprintf("%s %s/%s", e.Go, e.OS, e.Arch))
	}
	if e.CPUs > 0 {
		add("machine", strings.TrimSpace(fmt.Sprintf("%d CPUs %s", e.CPUs, e.CPU)))
	}
	if e.Seed > 0 { // nothing is random in a run without one
		add("seed", fmt.Sprint(e.Seed))
	}
	return all
}

// command is the command line that makes the run again.
func command(flags []string) string {
	if len(flags) == 0 {
		return ""
	}
	words := make([]string, 0, len(flags)+2)
	words = append(words, "weir")
	if strings.HasPrefix(flags[0], "-") {
		words = append(words, "compare")
	}
	for _, f := range flags {
		words = append(words, shellWord(f))
	}
	return strings.Join(words, " ")
}

// shellWord quotes what a shell would not leave alone.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
