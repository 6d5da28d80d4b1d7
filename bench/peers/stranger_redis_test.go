package peers

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server/servertest"
)

func newClient(t *testing.T, addr string) *goredis.Client {
	c := goredis.NewClient(ClientOptions(addr, 128))
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func realRedis(t *testing.T) (client *goredis.Client, addr string) {
	addr = servertest.Redis(t).Addr
	return newClient(t, addr), addr
}

// simulatedRedis is a server whose keys expire by the clock of whoever asks.
type simulatedRedis struct {
	*miniredis.Miniredis
	client *goredis.Client

	mu     sync.Mutex
	latest time.Time
}

func newSimulatedRedis(t *testing.T) *simulatedRedis {
	m := miniredis.RunT(t)
	return &simulatedRedis{Miniredis: m, client: newClient(t, m.Addr())}
}

// advance lets the time pass that passed on the clock since the last call. A clock that was set back
// takes no time back.
func (s *simulatedRedis) advance(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if passed := now.Sub(s.latest); passed > 0 {
		s.FastForward(passed)
	}
	s.latest = now
}

// passing is a peer on such a server.
type passing struct {
	Peer
	server *simulatedRedis
	now    func() time.Time
}

func (p passing) Take(ctx context.Context, key string, n int64) (Answer, error) {
	p.server.advance(p.now())
	return p.Peer.Take(ctx, key, n)
}

// shadowed is a client on which a script that asks for the TIME is told another clock's. The script
// is sent as it is, behind a local table in the place of the global one; all else in it is Redis's own.
type shadowed struct {
	goredis.UniversalClient
	now func() time.Time
}

const shadow = `local server, sec, usec = redis, table.remove(ARGV), table.remove(ARGV)
local redis = {
  replicate_commands = server.replicate_commands,
  call = function(command, ...)
    if command == 'TIME' then return {sec, usec} end
    return server.call(command, ...)
  end,
}
`

func (s shadowed) Eval(ctx context.Context, script string, keys []string, args ...any) *goredis.Cmd {
	now := s.now().UnixMicro()
	return s.UniversalClient.Eval(ctx, shadow+script, keys, append(args, now%1_000_000, now/1_000_000)...)
}

func (s shadowed) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *goredis.Cmd {
	cmd := goredis.NewCmd(ctx)
	cmd.SetErr(unknownScript{})
	return cmd
}

// unknownScript makes whoever sent a hash send the script.
type unknownScript struct{}

func (unknownScript) Error() string { return "NOSCRIPT it has to come in full" }

func (unknownScript) RedisError() {}

func TestShadowTellsTheTime(t *testing.T) {
	client, _ := realRedis(t)
	now := time.UnixMicro(1_234_567_000_089)
	script := goredis.NewScript("local t = redis.call('TIME'); redis.call('SET', KEYS[1], ARGV[1]); return {t[1], t[2], #ARGV}")
	got, err := script.Run(t.Context(), shadowed{client, func() time.Time { return now }}, []string{"k"}, "v").Slice()
	require.NoError(t, err)
	require.Equal(t, []any{"1234567", "89", int64(1)}, got)
	value, err := client.Get(t.Context(), "k").Result()
	require.NoError(t, err)
	require.Equal(t, "v", strings.TrimSpace(value))
}
