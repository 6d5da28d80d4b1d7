package main

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/weirlimits/weir/internal/backend"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1 // a check or a threshold failed
	exitUsage       = 2 // a flag, a trace or a results file is wrong
	exitUnreachable = 3 // a backend could not be reached
	exitInterrupted = 130
)

// exitError is an error with the exit code that it means.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// failed says that the run went well and that what it checked does not hold.
func failed(err error) error { return &exitError{code: exitFailed, err: err} }

// unreachable says that a backend stopped to answer.
func unreachable(err error) error { return &exitError{code: exitUnreachable, err: err} }

// exitCode returns what err means to the shell. An error without a code of its own is wrong usage:
// everything else that can go wrong carries one.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, backend.ErrUnreachable):
		return exitUnreachable
	default:
		return exitUsage
	}
}

// oneLine returns the error as the program prints it: "weir: " and one line, whatever bytes a file's
// name or a server's answer brought in.
func oneLine(err error) string {
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return "weir: " + strings.TrimPrefix(printable(text), "weir: ")
}

// printable replaces what could break a line or drive a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
