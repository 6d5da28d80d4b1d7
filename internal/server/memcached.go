package server

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// MemcachedOptions changes how memcached is started. Nil, like the zero value, means the defaults.
type MemcachedOptions struct {
	Port      int      // to listen on, such as that of a server that was killed; 0 means a free one
	Threads   int      // worker threads; 0 means memcached's own default
	MegaBytes int      // memory for items, in MiB; 0 means memcached's own default
	Conns     int      // most connections at a time; 0 means 4096
	Args      []string // appended to the command line; must not change the port or the address
}

// defaultConns leaves room for many clients; memcached's own default of 1024 stalls the next one silently.
const defaultConns = 4096

// memcachedGrace is short: memcached sees SIGTERM only at its next tick, up to a second later,
// and has nothing to put in order.
const memcachedGrace = 100 * time.Millisecond

// StartMemcached starts memcached from PATH and returns once it answers. It listens on 127.0.0.1 only,
// by TCP only. It lives until Stop, or until ctx ends.
//
// The error is ErrNotInstalled if there is no memcached on PATH, names an invalid field of opts,
// or quotes the last line that the server printed before it died.
func StartMemcached(ctx context.Context, opts *MemcachedOptions) (*Server, error) {
	if opts == nil {
		opts = new(MemcachedOptions)
	}
	port, err := opts.validate()
	if err != nil {
		return nil, err
	}
	pr := program{
		name:    "memcached",
		install: "Debian: apt-get install memcached",
		args:    opts.args,
		probe:   probeMemcached,
		grace:   memcachedGrace,
		port:    port,
		fixed:   opts.Port != 0,
	}
	return pr.launch(ctx)
}

func (o *MemcachedOptions) validate() (propose func() (int, error), err error) {
	for _, f := range []struct {
		name  string
		value int
	}{{"Threads", o.Threads}, {"MegaBytes", o.MegaBytes}, {"Conns", o.Conns}} {
		if f.value < 0 {
			return nil, fmt.Errorf("server: %s %d: must be positive, or 0 for the default", f.name, f.value)
		}
	}
	return choosePort(o.Port)
}

func (o *MemcachedOptions) args(port int, _ string) []string {
	conns := o.Conns
	if conns == 0 {
		conns = defaultConns
	}
	args := []string{"-l", "127.0.0.1", "-p", strconv.Itoa(port), "-U", "0", "-c", strconv.Itoa(conns)}
	if o.Threads > 0 {
		args = append(args, "-t", strconv.Itoa(o.Threads))
	}
	if o.MegaBytes > 0 {
		args = append(args, "-m", strconv.Itoa(o.MegaBytes))
	}
	if os.Geteuid() == 0 {
		// Memcached refuses to run as root unless told to. Another user would do,
		// but a change of user cancels the parent-death signal.
		args = append(args, "-u", "root")
	}
	return append(args, o.Args...)
}

// probeMemcached reads the process id and the version from the general statistics.
func probeMemcached(rw *bufio.ReadWriter) (identity, error) {
	fmt.Fprint(rw, "stats\r\n")
	if err := rw.Flush(); err != nil {
		return identity{}, err
	}
	var id identity
	for {
		line, err := rw.ReadString('\n')
		if err != nil {
			return identity{}, err
		}
		line = strings.TrimSpace(line)
		if line == "END" {
			return id, id.check("stats")
		}
		stat, ok := strings.CutPrefix(line, "STAT ")
		if !ok {
			return identity{}, fmt.Errorf("unexpected reply to stats: %q", line)
		}
		name, value, _ := strings.Cut(stat, " ")
		id.set(name, value, "pid", "version")
	}
}
