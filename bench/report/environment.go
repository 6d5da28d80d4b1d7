package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirlimits/weir/bench"
)

// facts tell what was measured, where and with what.
func facts(r *bench.Results) []fact {
	e := r.Environment
	all := []fact{{"limit", r.Limit.Text}}
	add := func(name, value string) {
		if value != "" {
			all = append(all, fact{strings.TrimSuffix(name, ":"), value})
		}
	}
	for _, s := range e.Servers {
		value := s.Server
		for _, more := range []struct {
			say  bool
			what string
		}{{s.Class != "", s.Class}, {s.StandIn != "", "stand-in"}, {s.Shared, "not started by this run"}} {
			if more.say {
				value += ", " + more.what
			}
		}
		add(s.Store, value)
	}
	if t := r.Trace; t != nil {
		value := fmt.Sprintf("%s (%s): %s events of %s keys, resolution %s",
			t.Name, t.Format, whole(int64(t.Events)), whole(int64(t.Keys)), micros(float64(t.ResolutionUS)))
		if t.Bad > 0 || t.Backward > 0 {
			value += fmt.Sprintf("; %s bad lines, %s backward steps", whole(int64(t.Bad)), whole(int64(t.Backward)))
		}
		add("trace", value)
	}
	if r.Clients > 0 {
		add("clients", whole(r.Clients))
	}
	if !e.Started.IsZero() {
		add("started", e.Started.UTC().Format(time.RFC3339))
	}
	add("weir", strings.TrimSpace(e.Weir+" "+e.Commit))
	add("go", strings.TrimSpace(e.Go+" "+e.OS+"/"+e.Arch))
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
