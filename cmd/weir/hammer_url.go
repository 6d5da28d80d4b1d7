package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/hammer/ask"
)

// askFlags are the flags of weir hammer that ask a running service.
type askFlags struct {
	url, method string
	headers     []string
	denied      []int
	time        time.Duration
	yes         bool
}

// Of weir hammer's flags, those that only go with --url, and those that go with and without.
var (
	askOnly = []string{"method", "header", "denied", "time", "yes"}
	askAlso = []string{"url", "limit", "format", "fail-if", "requests"}
)

func (a *askFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&a.url, "url", "", "ask the service at `URL` instead, which claims to keep --limit; --requests bounds how often (default 10000)")
	fs.StringVar(&a.method, "method", http.MethodGet, "with --url: `METHOD` of the requests")
	fs.StringArrayVar(&a.headers, "header", nil, "with --url: `'NAME: VALUE'`, repeatable; {n} in the value makes clients of their own")
	fs.IntSliceVar(&a.denied, "denied", []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}, "with --url: `LIST` of the statuses that deny")
	fs.DurationVar(&a.time, "time", time.Minute, "with --url: the longest `DURATION` that the run may take")
	fs.BoolVar(&a.yes, "yes", false, "with --url: you may ask a service that is not on loopback")
}

// unused refuses what only goes with --url where there is none.
func (a *askFlags) unused(fs *pflag.FlagSet) error {
	for _, name := range askOnly {
		if fs.Changed(name) {
			return &weir.FieldError{Field: "--" + name, Value: "given without --url", Want: "both or neither"}
		}
	}
	return nil
}

// config reads and checks the flags.
func (a *askFlags) config() (ask.Config, error) {
	c := ask.Config{URL: a.url, Method: a.method, Header: http.Header{}, Denied: a.denied, Time: a.time}
	for _, line := range a.headers {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(line, "\r\n") || strings.Contains(name, " ") {
			return c, &weir.FieldError{Field: "--header", Value: strconv.Quote(line), Want: "NAME: VALUE, such as 'X-Api-Key: {n}'"}
		}
		c.Header.Add(name, strings.TrimSpace(value))
	}
	u, err := url.Parse(a.url)
	if err == nil && u.Host != "" && !ask.Loopback(u) && !a.yes {
		return c, &weir.FieldError{Field: "--url", Value: strconv.Quote(u.Host), Want: "a loopback address, or --yes where you may ask that service"}
	}
	return c, nil
}

func (h *hammerCommand) runAsk(cmd *cobra.Command) error {
	fs := cmd.Flags()
	var alien error
	fs.Visit(func(f *pflag.Flag) {
		if alien == nil && !slices.Contains(askOnly, f.Name) && !slices.Contains(askAlso, f.Name) {
			alien = &weir.FieldError{Field: "--" + f.Name, Value: "given with --url", Want: "one of them"}
		}
	})
	if alien != nil {
		return alien
	}
	if !fs.Changed("limit") {
		return &weir.FieldError{Field: "--limit", Value: "none given", Want: "the limit that the service claims, such as 10/1s"}
	}
	if strings.Contains(h.given.limit, "+") {
		return &weir.FieldError{Field: "--limit", Value: strconv.Quote(h.given.limit), Want: "one limit with --url, no layers"}
	}
	if err := h.parse(); err != nil {
		return err
	}
	if err := h.only(askMetrics(), "with --url"); err != nil {
		return err
	}
	config, err := h.ask.config()
	if err != nil {
		return err
	}
	config.Limit = h.limit
	if fs.Changed("requests") {
		if config.Requests = h.config.Requests; config.Requests < 1 {
			return &weir.FieldError{Field: "--requests", Value: strconv.FormatInt(config.Requests, 10), Want: "1 or more"}
		}
	}
	rep, err := h.asked(cmd.Context(), config)
	if err != nil {
		return err
	}
	return errors.Join(h.print(func(b *bytes.Buffer) error { return writeAsk(b, h.format, rep) }), h.askVerdict(rep))
}

func (h *hammerCommand) asked(ctx context.Context, config ask.Config) (*ask.Report, error) {
	progress := h.newReporter()
	defer progress.stop()
	config.Progress = func(done, total int, next string) { progress.step("asking: "+next, done, total) }
	rep, err := ask.Run(ctx, config)
	if errors.Is(err, ask.ErrUnreachable) {
		return nil, unreachable(err)
	}
	return rep, err
}

// only refuses thresholds on figures that this run does not have.
func (h *hammerCommand) only(metrics []string, when string) error {
	for _, t := range h.failIf {
		if !slices.Contains(metrics, t.metric) {
			return &weir.FieldError{
				Field: "--fail-if metric", Value: strconv.Quote(t.metric), Want: "one of " + strings.Join(metrics, ", ") + ", " + when,
			}
		}
	}
	return nil
}

// askMetrics are what --fail-if can ask for with --url.
func askMetrics() []string {
	return []string{"allowed", "denied", "errors", "at_once", "max_in_window", "forged"}
}

func askMetric(r *ask.Report, metric string) int64 {
	switch metric {
	case "allowed":
		return r.Allowed
	case "denied":
		return r.Denied
	case "errors":
		return r.Errors
	case "at_once":
		return r.AtOnce
	case "max_in_window":
		return r.MaxInWindow
	default:
		return fresh(r)
	}
}

// fresh is how many forged headers bought a limit of their own.
func fresh(r *ask.Report) (n int64) {
	for _, f := range r.Forged {
		if f.Fresh == ask.True {
			n++
		}
	}
	return n
}

func (h *hammerCommand) askVerdict(r *ask.Report) error {
	for _, t := range h.failIf {
		if v := askMetric(r, t.metric); t.holds(float64(v)) {
			return failed(fmt.Errorf("weir: hammer: %s: %s is %d: --fail-if %s holds", r.URL, t.metric, v, t))
		}
	}
	return nil
}

func writeAskJSON(b *bytes.Buffer, r *ask.Report) error {
	e := json.NewEncoder(b)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		*ask.Report
		Name       string `json:"name"` // empty where it cannot be told
		Conclusion string `json:"conclusion"`
	}{r, r.Name(), r.Conclusion()})
}
