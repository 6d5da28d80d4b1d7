package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/trace"
)

// traffic is the flags that say which recorded requests to read.
type traffic struct {
	path      string
	key       string
	match     string
	anonymize bool
}

func (t *traffic) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&t.path, "trace", "",
		"recorded traffic: `FILE` in Common or Combined Log Format, CSV or NDJSON, also .gz; - is standard input")
	fs.StringVar(&t.key, "key", "",
		"`FIELD` that names the client: host, user, path, method, status, referer or agent in a log,\n"+
			"any column in CSV and NDJSON (default host, and key)")
	fs.StringVar(&t.match, "match", "", "only requests that match `REQUEST`, such as 'POST /login' or '/api*'")
	fs.BoolVar(&t.anonymize, "anonymize", false, "hash clients in everything that is printed or kept")
}

// idle names a flag that was given although there is no trace to use it on; empty if none was.
func (t *traffic) idle(cmd *cobra.Command) string {
	for _, name := range []string{"key", "match", "anonymize"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// open reads the trace and tells on standard error what became of its lines.
func (t *traffic) open(c *common) (*trace.Trace, error) {
	opts := &trace.Options{Key: t.key, Match: t.match, Anonymize: t.anonymize}
	var tr *trace.Trace
	var err error
	if t.path == "-" {
		tr, err = trace.Read(c.stdin, "standard input", opts)
	} else {
		tr, err = trace.Open(t.path, opts)
	}
	if err != nil {
		if text := err.Error(); strings.Contains(text, "Options.") { // the package's options are flags here
			err = errors.New(strings.NewReplacer("Options.Key", "--key", "Options.Match", "--match").Replace(text))
		}
		return nil, err
	}
	c.note("%s: %s, events: %d, keys: %d, resolution: %v", tr.Name, tr.Format, len(tr.Events), tr.Keys, tr.Resolution)
	if tr.Bad > 0 {
		c.note("%s: bad lines: %d of %d, the first: %s", tr.Name, tr.Bad, tr.Lines, tr.FirstBad)
	}
	if tr.Backward > 0 {
		c.note("%s: lines that step back in time: %d; they were sorted in", tr.Name, tr.Backward-tr.Late)
	}
	for _, w := range tr.Warnings {
		c.note("%s: %s", tr.Name, w)
	}
	return tr, nil
}

// warnCoarse tells when the times of a trace say little about a limit.
func warnCoarse(c *common, tr *trace.Trace, limit weir.Limit) {
	if tr.CoarseFor(limit.Window) {
		c.note("%s: warning: a window of %v is under ten times the resolution of %v: the order and pace of requests within it are guessed",
			tr.Name, limit.Window, tr.Resolution)
	}
}

func traceInfo(tr *trace.Trace) bench.TraceInfo {
	return bench.TraceInfo{
		Name: tr.Name, Format: tr.Format, Events: len(tr.Events), Keys: tr.Keys,
		Bad: tr.Bad, Backward: tr.Backward, ResolutionUS: int64(tr.Resolution / time.Microsecond),
	}
}
