// Package algorithms holds the rate-limit algorithms, one file for each: what it is,
// why its bound is true, its step in Go, and its plans. The step's Lua twin stands in
// lua/.
//
// A [weir.Algorithm] comes from its constructor, such as [GCRA], or by name from
// [Parse]. All is listed in one registry; whatever joins it is in every table, run
// and test.
package algorithms

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// Entry is one algorithm of the registry.
type Entry struct {
	Name    string
	Aliases []string
	Summary string   // one line
	Options []Option // what Parse takes after the name
	// Monotone tells that a higher limit denies no client that a lower one does not, and no more requests of cost 1:
	// without options that make it remember less, see bench/insight.
	Monotone bool
	build    func(values map[string]string) (weir.Algorithm, error)
}

// Option is an option as the program reads it: "burst=20".
type Option struct {
	Name string
	Want string // valid values
}

var burstOption = Option{Name: "burst", Want: "1 to 1000000000"}

var registry = []Entry{
	{
		Name: "fixed-window", Monotone: true, Summary: "one counter per window aligned to the epoch",
		build: plain(FixedWindow),
	},
	{
		Name: "fixed-window-first-hit", Monotone: true, Summary: "one counter per window that starts at the first request",
		build: plain(FixedWindowFirstHit),
	},
	{
		Name: "sliding-counter", Monotone: true, Summary: "two windows, the older one weighted",
		build: plain(SlidingCounter),
	},
	{
		Name: "bucketed-window", Monotone: true, Summary: "counts of K+1 sub-windows, never too few",
		Options: []Option{bucketsOption}, build: parseBucketedWindow,
	},
	{
		Name: "gcra", Aliases: []string{"token-bucket", "leaky-bucket"}, Monotone: true,
		Summary: "one time: a bucket of burst tokens, refilled evenly",
		Options: []Option{burstOption},
		build: func(values map[string]string) (weir.Algorithm, error) {
			var o GCRAOptions
			if v, ok := values["burst"]; ok {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil || n < 1 || n > weir.MaxCount {
					return nil, &weir.FieldError{Field: "gcra burst", Value: strconv.Quote(v), Want: burstOption.Want}
				}
				o.Burst = n
			}
			return GCRA(&o), nil
		},
	},
	{
		Name: "sliding-log", Monotone: true, Summary: "the time of every admitted request, in a sorted set",
		build: plain(SlidingLog),
	},
	{
		Name: "ring-log", Monotone: true, Summary: "the last L times, in a list",
		Options: []Option{{Name: "denied", Want: "count (denied requests count too) or free"}},
		build: func(values map[string]string) (weir.Algorithm, error) {
			v, ok := values["denied"]
			if ok && v != "count" && v != "free" {
				return nil, &weir.FieldError{Field: "ring-log denied", Value: strconv.Quote(v), Want: `"count" or "free"`}
			}
			return RingLog(&RingLogOptions{CountDenied: v == "count"}), nil
		},
	},
	{
		Name: "packed-log", Monotone: true, Summary: "the log in one value, a byte or two per request; fewer times by blocks",
		Options: packedOptions, build: parsePackedLog,
	},
}

func plain(a func() weir.Algorithm) func(map[string]string) (weir.Algorithm, error) {
	return func(map[string]string) (weir.Algorithm, error) { return a(), nil }
}

// Registry returns every algorithm, in the order of the tables.
func Registry() []Entry { return slices.Clone(registry) }

// All returns every algorithm with its default options, in the order of the tables.
func All() []weir.Algorithm {
	all := make([]weir.Algorithm, len(registry))
	for i, e := range registry {
		a, err := e.build(nil)
		if err != nil { // a default that is no valid option is a mistake of this file
			panic(err)
		}
		all[i] = a
	}
	return all
}

// Parse reads an algorithm as the program does: "gcra", "token-bucket,burst=20",
// "ring-log,denied=count". It returns a [weir.FieldError] for an unknown name or option.
func Parse(s string) (weir.Algorithm, error) {
	name, rest, _ := strings.Cut(s, ",")
	i := slices.IndexFunc(registry, func(e Entry) bool { return e.Name == name || slices.Contains(e.Aliases, name) })
	if i < 0 {
		var names []string
		for _, e := range registry {
			names = append(append(names, e.Name), e.Aliases...)
		}
		return nil, &weir.FieldError{Field: "algorithm", Value: strconv.Quote(name), Want: "one of " + strings.Join(names, ", ")}
	}
	entry := registry[i]
	values := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		if rest == "" {
			break
		}
		key, value, _ := strings.Cut(part, "=")
		if !slices.ContainsFunc(entry.Options, func(o Option) bool { return o.Name == key }) {
			return nil, &weir.FieldError{Field: entry.Name + " option", Value: strconv.Quote(part), Want: entry.want()}
		}
		if _, twice := values[key]; twice {
			return nil, &weir.FieldError{Field: entry.Name + " " + key, Value: strconv.Quote(s), Want: "it once"}
		}
		values[key] = value
	}
	return entry.build(values)
}

// want says which options an entry takes.
func (e Entry) want() string {
	if len(e.Options) == 0 {
		return "none: " + e.Name + " has no options"
	}
	var wants []string
	for _, o := range e.Options {
		wants = append(wants, fmt.Sprintf("%s=VALUE, %s", o.Name, o.Want))
	}
	return strings.Join(wants, "; ")
}

// Runnable returns the algorithms, with default options, that have a plan for the
// store, in the order of the tables.
func Runnable(st store.Store) []weir.Algorithm {
	any := weir.Limit{Count: 1, Window: weir.MinWindow}
	return slices.DeleteFunc(All(), func(a weir.Algorithm) bool {
		_, err := weir.New(a, any, st, nil)
		return errors.Is(err, errors.ErrUnsupported)
	})
}
