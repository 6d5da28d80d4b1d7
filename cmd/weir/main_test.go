package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"weir": main})
}

// TestScripts runs the program as a shell would. No server's program is on the PATH, so that private
// stores are stand-ins; a script that wants real ones sets PATH=$REALPATH.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			path := env.Getenv("PATH")
			env.Setenv("REALPATH", path)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector waits a second at each exit
			env.Setenv("PATH", filepath.SplitList(path)[0])
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refused": refused, "wide": wide, "binary": binary, "await": await,
		},
	})
}

// refused is "refused CODE PATTERN ARGS...": weir ARGS ends with the exit code, prints nothing but one
// line on standard error, and that line matches the pattern.
func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: refused CODE PATTERN ARGS...")
	}
	err := ts.Exec("weir", args[2:]...)
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output is not empty: %q", out)
	}
	line, rest, whole := strings.Cut(ts.ReadFile("stderr"), "\n")
	if !whole || rest != "" || !strings.HasPrefix(line, "weir: ") || strings.HasPrefix(line, "weir: weir: ") ||
		strings.Contains(line, "goroutine") {
		ts.Fatalf("standard error is not one line of weir's: %q", ts.ReadFile("stderr"))
	}
	if !regexp.MustCompile(args[1]).MatchString(line) {
		ts.Fatalf("%q does not match %q", line, args[1])
	}
}

// wide is "wide COLUMNS": no line of a table on standard output is wider.
func wide(ts *testscript.TestScript, neg bool, args []string) {
	most, err := strconv.Atoi(strings.Join(args, " "))
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		line = strings.TrimSuffix(line, "\n")
		if n := len([]rune(line)); strings.Contains(line, "│") && (n > most) != neg {
			ts.Fatalf("%d columns: %s", n, line)
		}
	}
}

// binary is "binary FILE": makes a file that is no text.
func binary(ts *testscript.TestScript, _ bool, args []string) {
	data := make([]byte, 4096)
	for i := range data {
		data[i] = byte(i * 7)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// await is "await FILE": waits until a program in the background has written it.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("no %s within a minute", args[0])
		}
	}
}
