package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/store/memcache/memcachetest"
)

// What a private server may use: enough for every measurement, and not the machine.
const (
	redisMaxMemory    = "2gb"
	memcacheMegaBytes = 1024
	memcacheThreads   = 2
)

// startPrivate starts the server, or its stand-in where it is not installed.
func (b *Backend) startPrivate(ctx context.Context) error {
	start, standIn := startRedis, (*Backend).startMiniredis
	if b.Kind == KindMemcache {
		start, standIn = startMemcached, (*Backend).startMemcachetest
	}
	// The server ends with its context, and ctx is only for the opening.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stopped := context.AfterFunc(ctx, end)
	s, err := start(life)
	switch {
	case !stopped(): // and so the server has ended, or is ending
		if err == nil {
			_ = s.Stop()
		}
		return ctx.Err()
	case errors.Is(err, server.ErrNotInstalled):
		end()
		return standIn(b)
	case err != nil:
		end()
		return fmt.Errorf("backend: %s: %w", b.Name, err)
	}
	b.target.addrs = []string{s.Addr}
	b.stop = func() error {
		defer end()
		return s.Stop()
	}
	return nil
}

func startRedis(ctx context.Context) (*server.Server, error) {
	return server.StartRedis(ctx, &server.RedisOptions{
		Args: []string{"--maxmemory", redisMaxMemory, "--maxmemory-policy", "noeviction"},
	})
}

func startMemcached(ctx context.Context) (*server.Server, error) {
	return server.StartMemcached(ctx, &server.MemcachedOptions{Threads: memcacheThreads, MegaBytes: memcacheMegaBytes})
}

func (b *Backend) startMiniredis() error {
	m, err := miniredis.Run()
	if err != nil {
		return fmt.Errorf("backend: %s: miniredis: %w", b.Name, err)
	}
	aged := age(m)
	b.standsIn("miniredis", "redis-server is not on PATH: using miniredis, whose speed and bytes mean nothing (Debian: apt-get install redis-server)")
	b.target.addrs = []string{m.Addr()}
	b.stop = func() error {
		aged()
		m.Close()
		return nil
	}
	return nil
}

func (b *Backend) startMemcachetest() error {
	m, err := memcachetest.Start(nil)
	if err != nil {
		return fmt.Errorf("backend: %s: %w", b.Name, err)
	}
	b.standsIn("in-process memcached", "memcached is not on PATH: using an in-process memcached, whose speed and bytes mean nothing (Debian: apt-get install memcached)")
	b.target.addrs = []string{m.Addr()}
	b.stop = m.Close
	return nil
}

func (b *Backend) standsIn(name, note string) {
	b.StandIn, b.Notes = name, append(b.Notes, note)
}

// ageEvery is how often miniredis is told how much time went by.
const ageEvery = 100 * time.Millisecond

// age lets the keys of miniredis expire, whose TTLs do not run by themselves. The
// returned function ends that.
func age(m *miniredis.Miniredis) (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(ageEvery)
		defer tick.Stop()
		last := time.Now()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				now := time.Now()
				m.FastForward(now.Sub(last))
				last = now
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}
