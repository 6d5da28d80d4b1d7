package hammer

import (
	"encoding/json"
	"io"
)

// A worker process reads orders from its standard input and answers each with one
// reply on its standard output, JSON values all: a setup once, then for every run a
// task and a fire. It ends when its input ends, so none outlives its parent.

// order is what the parent asks for: one of its fields is set.
type order struct {
	Setup *setup `json:"setup,omitempty"`
	Task  *task  `json:"task,omitempty"`
	Fire  bool   `json:"fire,omitempty"`
}

// setup is what stays the same for all runs.
type setup struct {
	Store   string `json:"store"` // URL, credentials included
	Workers int    `json:"workers"`
}

// task is one process's share of one run.
type task struct {
	Algorithm string `json:"algorithm"`
	Limit     string `json:"limit"`
	Prefix    string `json:"prefix"`
	Key       string `json:"key"`
	Requests  int64  `json:"requests"`
	// The first worker begins after BeginUS, each further one EveryUS after the one before.
	BeginUS int64 `json:"begin_us,omitempty"`
	EveryUS int64 `json:"every_us,omitempty"`
}

// reply answers an order: ready for the next one, a tally, or an error.
type reply struct {
	Tally *tally `json:"tally,omitempty"`
	Error string `json:"error,omitempty"`
}

// tally counts one process's requests by their answers. A worker that meets an error
// stops, so fewer may have been sent than were asked for.
type tally struct {
	Allowed int64  `json:"allowed"`
	Denied  int64  `json:"denied"`
	Errors  int64  `json:"errors"`
	Error   string `json:"error,omitempty"` // the first one
}

func (t *tally) add(u tally) {
	t.Allowed += u.Allowed
	t.Denied += u.Denied
	t.Errors += u.Errors
	if t.Error == "" {
		t.Error = u.Error
	}
}

func send(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
