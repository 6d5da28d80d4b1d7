package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	togetherWithin = 30 * time.Second      // until servers that belong together know of one another
	togetherPause  = 20 * time.Millisecond // between two looks
)

// promptly has a replica get its master's data at once, not after the wait for further replicas.
var promptly = []string{"--repl-diskless-sync-delay", "0"}

// follows tells whether the node is a replica that has its master's data.
func follows(ctx context.Context, node *goredis.Client) bool {
	info, err := node.Info(ctx, "replication").Result()
	return err == nil && strings.Contains(info, "role:slave\r\n") && strings.Contains(info, "master_link_status:up\r\n")
}

// await looks until s is ready.
func await(ctx context.Context, s *Server, doing string, ready func(*goredis.Client) bool) error {
	return withClient(s, func(node *goredis.Client) error {
		for end := time.Now().Add(togetherWithin); !ready(node); {
			if time.Now().After(end) {
				return fmt.Errorf("not ready %s within %s", doing, togetherWithin)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
			case <-time.After(togetherPause):
			}
		}
		return nil
	})
}

// withClient gives do a client of s.
func withClient(s *Server, do func(*goredis.Client) error) error {
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr, DisableIdentity: true})
	if err := errors.Join(do(c), c.Close()); err != nil {
		return fmt.Errorf("server: redis-server at %s: %w", s.Addr, err)
	}
	return nil
}

func addresses(servers []*Server) string {
	addrs := make([]string, len(servers))
	for i, s := range servers {
		addrs[i] = s.Addr
	}
	return strings.Join(addrs, ",")
}

func stopAll(servers []*Server) error {
	errs := make([]error, len(servers))
	for i, s := range servers {
		errs[i] = s.Stop()
	}
	return errors.Join(errs...)
}
