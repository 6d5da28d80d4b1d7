package faults_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/redis"
)

// redisFault is how a fault of Redis is brought about.
type redisFault struct {
	args    func(t *testing.T) []string // of the server
	proxied bool
	abrupt  bool // with connections that end by a reset
	strike  func(f *redisField)
}

var redisFaults = map[string]redisFault{
	"scripts-flushed": {strike: func(f *redisField) {
		for range 20 {
			f.must("script", "flush")
			f.awaitAnswers(1)
		}
	}},
	"flushed": {strike: func(f *redisField) {
		f.must("flushall")
		f.losses++
		f.awaitMoreThanTheLimit()
	}},
	"restarted-empty": {strike: func(f *redisField) {
		f.restart()
		f.losses++
		f.awaitMoreThanTheLimit()
	}},
	"restarted": {args: persistent, strike: (*redisField).restart},
	"clients-killed": {strike: func(f *redisField) {
		f.again((*redisField).killClients)
	}},
	"connections-reset": {proxied: true, abrupt: true, strike: (*redisField).loseReplies},
	"reply-lost":        {proxied: true, strike: (*redisField).loseReplies},
	"garbled": {proxied: true, strike: func(f *redisField) {
		for _, bad := range []reply{
			{Begins: "*", New: []byte("\x00\xff nonsense\r\n")},
			{Begins: "*", Old: []byte(":"), New: []byte("+x")},
			{Begins: "*", Old: []byte("*"), New: []byte("$")},
			{Begins: "*", Old: []byte("\r\n:"), New: []byte("\r\n:-9")},
			{Begins: "*", New: []byte("*0\r\n"), Cut: true},
			{Begins: "*", New: []byte("*2\r\n:1\r\n:"), Cut: true},
		} {
			f.way.worsen("reply", bad)
			f.awaitFailures(isWide)
			f.way.mend("reply")
		}
		// An admission that nobody asked for, after those that somebody did.
		f.way.worsen("reply", reply{Begins: "*", More: []byte("*2\r\n:101\r\n:1\r\n")})
		f.awaitAnswers(5)
		f.way.mend("reply")
	}},
	"late":     {proxied: true, strike: func(f *redisField) { f.late() }},
	"too-late": {proxied: true, strike: func(f *redisField) { f.tooLate() }},
	"read-only": {strike: func(f *redisField) {
		f.must("replicaof", "127.0.0.1", "1") // where nobody is, so it keeps what it has
		f.awaitFailures(isWide)
		f.must("replicaof", "no", "one")
	}},
	"full": {strike: func(f *redisField) {
		f.must("config", "set", "maxmemory", 1)
		f.awaitFailures(isWide)
		f.must("config", "set", "maxmemory", 0)
	}},
	"evicting": {args: forgetful, strike: (*redisField).crowdOut},
	"foreign":  {strike: (*redisField).overwrite},
}

func forgetful(*testing.T) []string { return []string{"--maxmemory-policy", "allkeys-lru"} }

func persistent(t *testing.T) []string {
	return []string{"--appendonly", "yes", "--appendfsync", "always", "--dir", t.TempDir()}
}

// redisField is a field on Redis, and the way around the callers' own.
type redisField struct {
	field
	admin *goredis.Client
	args  []string
}

func testRedis(t *testing.T, r row, fault redisFault) {
	f := &redisField{field: field{t: t, row: r}}
	if fault.args != nil {
		f.args = fault.args(t)
	}
	f.start(0)
	f.addr = f.server.Addr
	f.admin = goredis.NewClient(&goredis.Options{Addr: f.addr, PoolSize: 1})
	t.Cleanup(func() { require.NoError(t, f.admin.Close()) })
	addr := f.addr
	if fault.proxied {
		f.way = newWay(t, f.addr)
		addr = f.way.proxy.Listen
		if fault.abrupt {
			f.way.abrupt()
		}
	}
	gathered, err := redis.Open("redis://"+addr, nil)
	require.NoError(t, err)
	// Of a client that retries and does not obey contexts, decisions one by one.
	client := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: callers, MaxRetries: 5})
	f.handles = []handle{{"gathered", gathered, nil}, {"alone", redis.New(client, &redis.Options{MaxBatch: 1}), client}}
	f.subjects = newSubjects(t, r, f.handles)
	f.replay(func(*field) { fault.strike(f) }, func() int {
		return f.stat("connected_clients")
	})
}

// start starts the server, on the port that it had.
func (f *redisField) start(port int) {
	s, err := server.StartRedis(context.Background(), &server.RedisOptions{Port: port, Args: f.args})
	f.server = servertest.Adopt(f.t, s, err)
}

func (f *redisField) must(args ...any) any {
	v, err := f.admin.Do(context.Background(), args...).Result()
	require.NoError(f.t, err, args)
	return v
}

// again strikes until everybody has failed.
func (f *redisField) again(strike func(*redisField)) {
	seen := map[*subject]int64{}
	for _, s := range f.subjects {
		seen[s] = s.failed()
	}
	f.await("a failure", isWide, func(s *subject) bool {
		if s.failed() == seen[s] {
			strike(f)
		}
		return s.failed() > seen[s]
	})
}

func (f *redisField) killClients() { f.must("client", "kill", "type", "normal", "skipme", "yes") }

func (f *redisField) restart() {
	require.NoError(f.t, f.server.Kill())
	f.awaitFailures(all)
	f.start(f.server.Port)
}

func (f *redisField) loseReplies() {
	f.executes = true
	f.way.worsen("reply", reply{Begins: "*", Cut: true})
	f.awaitFailures(isWide)
	f.way.mend("reply")
}

// crowdOut fills the server's memory until it has dropped every key that it was given before.
func (f *redisField) crowdOut() {
	const room, size = 8 << 20, 64 << 10
	f.must("config", "set", "maxmemory", f.stat("used_memory")+room)
	value := strings.Repeat("x", size)
	n := 0
	f.await("an eviction", isTight, func(s *subject) bool {
		write := []any{"mset"}
		for range 8 {
			write = append(write, fmt.Sprintf("filler:%d", n), value)
			n++
		}
		f.must(write...)
		return s.allowed() > tight.Count
	})
	f.must("config", "set", "maxmemory", 0)
	f.losses = int64(f.stat("evicted_keys"))
}

// stat returns a number of INFO.
func (f *redisField) stat(name string) int {
	info, err := f.admin.Info(context.Background(), "everything").Result()
	require.NoError(f.t, err)
	_, rest, found := strings.Cut(info, "\n"+name+":")
	require.True(f.t, found, name)
	line, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(line)
	require.NoError(f.t, err)
	return n
}

// overwrite puts values of another type in place of those of all wide subjects, and later puts theirs back.
func (f *redisField) overwrite() {
	each := func(do func(key string)) {
		for _, s := range f.subjects {
			if isWide(s) {
				do(s.plain.Keys(s.key)[0])
			}
		}
	}
	const (
		put   = `redis.call('rename', KEYS[1], KEYS[2]) return redis.call(ARGV[1], KEYS[1], 'theirs')`
		spare = "kept:"
	)
	each(func(key string) {
		write := "rpush"
		if f.must("type", key) != "string" {
			write = "set"
		}
		f.must("eval", put, 2, key, spare+key, write)
	})
	f.awaitFailures(isWide)
	each(func(key string) { f.must("rename", spare+key, key) })
}
