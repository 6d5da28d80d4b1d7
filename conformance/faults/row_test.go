package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
)

// row is what faults.json says of one fault.
type row struct {
	Store    string   `json:"store"`
	Name     string   `json:"name"`
	Fault    string   `json:"fault"`    // for the reader
	Deadline string   `json:"deadline"` // of the callers while the fault lasts, and of the guards; empty: none
	Sees     []string `json:"sees"`     // which errors callers get, besides decisions; the first is certain
	Over     string   `json:"over"`     // what may be admitted beyond the limit
	Under    string   `json:"under"`    // what may be counted and not admitted
	Normal   string   `json:"normal"`   // how long callers see errors after the fault is over
}

// What a row may say of the costs.
const (
	none     = "none"
	afresh   = "up to L again for each loss"
	perError = "at most one for each error"
	atOnce   = "at once"
)

func (r row) id() string { return r.Store + "/" + r.Name }

// deadline is what callers are given while the fault lasts, or zero.
func (r row) deadline() time.Duration {
	d, _ := time.ParseDuration(r.Deadline)
	return d
}

// returns is how long errors may last once the fault is over.
func (r row) returns() time.Duration {
	d, _ := time.ParseDuration(r.Normal)
	return d
}

// check holds the row against the vocabulary, so that a word which nothing checks is found.
func (r row) check() error {
	for _, sees := range r.Sees {
		if !slices.Contains(kinds, sees) {
			return fmt.Errorf("%s: sees %q: want some of %q", r.id(), sees, kinds)
		}
	}
	if _, err := time.ParseDuration(r.Deadline); r.Deadline != "" && err != nil {
		return fmt.Errorf("%s: deadline %q: want a duration or nothing", r.id(), r.Deadline)
	}
	if _, err := time.ParseDuration(r.Normal); r.Normal != atOnce && err != nil {
		return fmt.Errorf("%s: normal %q: want a duration or %q", r.id(), r.Normal, atOnce)
	}
	switch {
	case r.Fault == "":
		return fmt.Errorf("%s: fault: want a description", r.id())
	case r.Over != none && r.Over != afresh:
		return fmt.Errorf("%s: over %q: want %q or %q", r.id(), r.Over, none, afresh)
	case r.Under != none && r.Under != perError:
		return fmt.Errorf("%s: under %q: want %q or %q", r.id(), r.Under, none, perError)
	}
	return nil
}

// readRows reads the table.
func readRows(t *testing.T) []row {
	content, err := os.ReadFile("faults.json")
	require.NoError(t, err)
	var rows []row
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&rows))
	return rows
}

// kinds are the errors that a row may name.
var kinds = []string{
	"connection lost", "deadline", "refused", "store.ErrFull", "store.ErrCorrupt", "store.ErrGarbled", "READONLY", "LOADING",
}

// kind names what an error is by what callers can branch on, or quotes it.
func kind(err error) string {
	for _, k := range []struct {
		name string
		is   error
	}{
		{"store.ErrFull", store.ErrFull},
		{"store.ErrCorrupt", store.ErrCorrupt},
		{"store.ErrGarbled", store.ErrGarbled},
		{"refused", gomemcache.ErrServerError},
		{"deadline", context.DeadlineExceeded},
		{"deadline", os.ErrDeadlineExceeded},
		{"connection lost", io.EOF},
		{"connection lost", io.ErrUnexpectedEOF},
		{"connection lost", syscall.ECONNRESET},
		{"connection lost", syscall.ECONNREFUSED},
		{"connection lost", syscall.EPIPE},
		{"connection lost", net.ErrClosed},
	} {
		if errors.Is(err, k.is) {
			return k.name
		}
	}
	var said goredis.Error
	if errors.As(err, &said) {
		if word, _, _ := strings.Cut(said.Error(), " "); slices.Contains(kinds, word) {
			return word
		}
	}
	return fmt.Sprintf("an error that no row names: %v", err)
}

func TestEveryRowSaysWhatIsChecked(t *testing.T) {
	for _, r := range readRows(t) {
		require.NoError(t, r.check())
	}
	good := readRows(t)[0]
	for want, spoil := range map[string]func(*row){
		`sees "nothing"`:  func(r *row) { r.Sees = []string{"nothing"} },
		`deadline "soon"`: func(r *row) { r.Deadline = "soon" },
		`normal "soon"`:   func(r *row) { r.Normal = "soon" },
		`fault`:           func(r *row) { r.Fault = "" },
		`over "a little"`: func(r *row) { r.Over = "a little" },
		`under ""`:        func(r *row) { r.Under = "" },
	} {
		bad := good
		spoil(&bad)
		require.ErrorContains(t, bad.check(), good.id()+": "+want)
	}
}
