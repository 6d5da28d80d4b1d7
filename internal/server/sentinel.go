package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	// PrimaryName is the name under which a [Sentinel] knows its primary.
	PrimaryName = "primary"
	// DownAfter is after how long without an answer each of a [Sentinel] holds the primary for failed.
	DownAfter = time.Second

	sentinels      = 3
	sentinelQuorum = 2
	sentinelConfig = "sentinel.conf"
)

// A Sentinel is a primary with replicas that three Redis Sentinels watch. The roles are those at the start.
type Sentinel struct {
	Primary  *Server
	Replicas []*Server
	Watchers []*Server
}

// StartSentinel starts a primary, so many replicas and three Sentinels that have the primary's role handed to a replica
// when two of them miss it for [DownAfter]. It returns once they know of one another and the replicas follow.
// It lives until Stop, or until ctx ends. The error is as that of [StartRedis].
func StartSentinel(ctx context.Context, replicas int) (*Sentinel, error) {
	if replicas < 0 {
		return nil, fmt.Errorf("server: a primary with %d replicas: want none or more", replicas)
	}
	s := new(Sentinel)
	if err := s.start(ctx, replicas); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// URL is by which a store is opened on the primary, whichever server that is.
func (s *Sentinel) URL() string {
	return "redis+sentinel://" + addresses(s.Watchers) + "/" + PrimaryName + "/0"
}

// Stop ends all servers, as [Server.Stop] does; the Sentinels first, who have nothing to do about it then.
func (s *Sentinel) Stop() error {
	all := append(s.Watchers[:len(s.Watchers):len(s.Watchers)], s.Replicas...)
	if s.Primary != nil {
		all = append(all, s.Primary)
	}
	return stopAll(all)
}

func (s *Sentinel) start(ctx context.Context, replicas int) (err error) {
	if s.Primary, err = StartRedis(ctx, &RedisOptions{Args: promptly}); err != nil {
		return err
	}
	for range replicas {
		r, err := StartRedis(ctx, &RedisOptions{
			Args: append([]string{"--replicaof", "127.0.0.1 " + strconv.Itoa(s.Primary.Port)}, promptly...),
		})
		if err != nil {
			return err
		}
		s.Replicas = append(s.Replicas, r)
	}
	for _, r := range s.Replicas {
		if err := await(ctx, r, "following the primary", func(c *goredis.Client) bool { return follows(ctx, c) }); err != nil {
			return err
		}
	}
	for range sentinels {
		w, err := s.watch(ctx)
		if err != nil {
			return err
		}
		s.Watchers = append(s.Watchers, w)
	}
	for _, w := range s.Watchers {
		if err := await(ctx, w, "finding the others", func(c *goredis.Client) bool {
			cmd := goredis.NewMapStringStringCmd(ctx, "sentinel", "master", PrimaryName)
			_ = c.Process(ctx, cmd) // it keeps the error
			m, err := cmd.Result()
			return err == nil && m["flags"] == "master" && m["num-slaves"] == strconv.Itoa(replicas) &&
				m["num-other-sentinels"] == strconv.Itoa(sentinels-1)
		}); err != nil {
			return err
		}
	}
	return nil
}

// watch starts one Sentinel.
func (s *Sentinel) watch(ctx context.Context) (*Server, error) {
	pr := program{
		name:    "redis-server",
		install: installRedis,
		config:  sentinelConfig, // in which it keeps what it learns
		args: func(port int, dir string) []string {
			return []string{
				sentinelConfig, "--sentinel", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--protected-mode", "yes",
				"--dir", dir, "--daemonize", "no",
			}
		},
		probe: func(rw *bufio.ReadWriter) (identity, error) { return probeRedis(rw, "") },
		grace: redisGrace,
		port:  freePort,
	}
	w, err := pr.launch(ctx)
	if err != nil {
		return nil, err
	}
	err = withClient(w, func(c *goredis.Client) error {
		for _, command := range [][]any{
			// They tell one another of themselves ten times a second; each two seconds is the default.
			{"sentinel", "debug", "publish-period", 100, "info-period", 100},
			{"sentinel", "monitor", PrimaryName, "127.0.0.1", s.Primary.Port, sentinelQuorum},
			{"sentinel", "set", PrimaryName, "down-after-milliseconds", DownAfter.Milliseconds(), "failover-timeout", 5 * DownAfter.Milliseconds()},
		} {
			if err := c.Do(ctx, command...).Err(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, w.Stop())
	}
	return w, nil
}
