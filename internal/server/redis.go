package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

const (
	installRedis = "Debian: apt-get install redis-server"
	redisGrace   = 3 * time.Second
)

// RedisOptions changes how redis-server is started. Nil, like the zero value, means the defaults.
type RedisOptions struct {
	Port     int      // to listen on, such as that of a server that was killed; 0 means a free one
	Password string   // asked of every client; empty means none
	Args     []string // appended to the command line; must not change the port or the address
}

// StartRedis starts redis-server from PATH and returns once it answers. It listens on 127.0.0.1 only
// and persists nothing. It lives until Stop, or until ctx ends.
//
// The error is ErrNotInstalled if there is no redis-server on PATH, names an invalid field of opts,
// or quotes the last line that the server printed before it died.
func StartRedis(ctx context.Context, opts *RedisOptions) (*Server, error) {
	if opts == nil {
		opts = new(RedisOptions)
	}
	port, err := choosePort(opts.Port)
	if err != nil {
		return nil, err
	}
	pr := program{
		name:    "redis-server",
		install: installRedis,
		args:    opts.args,
		probe:   func(rw *bufio.ReadWriter) (identity, error) { return probeRedis(rw, opts.Password) },
		grace:   redisGrace,
		port:    port,
		fixed:   opts.Port != 0,
	}
	return pr.launch(ctx)
}

func (o *RedisOptions) args(port int, dir string) []string {
	args := []string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--protected-mode", "yes",
		"--save", "", "--appendonly", "no", "--dir", dir, "--daemonize", "no",
	}
	if o.Password != "" {
		args = append(args, "--requirepass", o.Password)
	}
	return append(args, o.Args...)
}

// probeRedis reads the process id and the version from INFO.
func probeRedis(rw *bufio.ReadWriter, password string) (identity, error) {
	if password != "" {
		fmt.Fprintf(rw, "*2\r\n$4\r\nAUTH\r\n$%d\r\n%s\r\n", len(password), password)
		if err := rw.Flush(); err != nil {
			return identity{}, err
		}
		reply, err := rw.ReadString('\n')
		if err != nil {
			return identity{}, err
		}
		if reply != "+OK\r\n" {
			return identity{}, fmt.Errorf("unexpected reply to AUTH: %q", strings.TrimSpace(reply))
		}
	}
	fmt.Fprint(rw, "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n")
	if err := rw.Flush(); err != nil {
		return identity{}, err
	}
	head, err := rw.ReadString('\n')
	if err != nil {
		return identity{}, err
	}
	size, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
	if err != nil || head[0] != '$' || size < 0 || size > 1<<20 {
		return identity{}, fmt.Errorf("unexpected reply to INFO: %q", strings.TrimSpace(head))
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(rw, body); err != nil {
		return identity{}, err
	}
	var id identity
	for line := range strings.Lines(string(body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		id.set(name, value, "process_id", "redis_version")
	}
	return id, id.check("INFO")
}
