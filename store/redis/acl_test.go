package redis_test

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/redis"
)

// The user that SECURITY.md tells to make can run every algorithm through all it does, and has no command
// that none of them needs.
func TestTheUserInSecurityMdIsEnoughAndNoMore(t *testing.T) {
	text, err := os.ReadFile("../../SECURITY.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```\nACL SETUSER (\\S+) (.*?)```").FindSubmatch(text)
	require.NotNil(t, block, "SECURITY.md has a block that starts with ACL SETUSER")
	user, rules := string(block[1]), strings.Fields(strings.ReplaceAll(string(block[2]), "\\\n", " "))

	addr := servertest.Redis(t).Addr
	admin := goredis.NewClient(&goredis.Options{Addr: addr})
	defer func() { require.NoError(t, admin.Close()) }()
	command := []any{"acl", "setuser", user}
	password, commands := "", map[string]bool{}
	for _, rule := range rules {
		command = append(command, rule)
		if p, ok := strings.CutPrefix(rule, ">"); ok {
			password = p
		}
		if name, ok := strings.CutPrefix(rule, "+"); ok {
			commands[name] = true
		}
	}
	require.NotEmpty(t, password)
	require.NoError(t, admin.Do(t.Context(), command...).Err())
	require.NoError(t, admin.ConfigResetStat(t.Context()).Err())

	st, err := redis.Open("redis://"+user+":"+url.QueryEscape(password)+"@"+addr, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	everything(t, st)

	stats := admin.Info(t.Context(), "commandstats").Val()
	for _, m := range regexp.MustCompile(`cmdstat_(\S+):calls=(\d+).*rejected_calls=(\d+)`).FindAllStringSubmatch(stats, -1) {
		require.Equal(t, "0", m[3], "%s was refused", m[1])
		if m[2] != "0" {
			delete(commands, m[1])
		}
	}
	require.Empty(t, admin.Do(t.Context(), "acl", "log").Val(), "what was refused")
	require.Empty(t, commands, "allowed and never used")
}

// everything has every algorithm do all that it can: admit, deny, peek, give back, reset, many keys at once, long logs, an
// injected clock and a server's that was set back.
func everything(t *testing.T, st *redis.Store) {
	hour := weir.Limit{Count: 3, Window: time.Hour}
	all := append(algorithms.All(),
		weir.Layered(algorithms.FixedWindow(), weir.Layer{Algorithm: algorithms.GCRA(nil), Limit: hour}),
		weir.Layered(algorithms.SlidingLog(), weir.Layer{Algorithm: algorithms.RingLog(nil), Limit: hour}))
	for _, a := range all {
		l, err := weir.New(a, weir.Limit{Count: 5, Window: time.Hour}, st, nil)
		require.NoError(t, err)
		for range 7 {
			_, err := l.Take(t.Context(), "k", 1)
			require.NoError(t, err, a)
		}
		for _, n := range []int64{1, 5} {
			_, err = l.Refund(t.Context(), "k", n)
			require.NoError(t, err, a)
		}
		var group sync.WaitGroup
		for i := range 300 {
			group.Go(func() {
				if _, err := l.Take(t.Context(), fmt.Sprint("k", i/2), int64(i%2)); err != nil {
					t.Errorf("%s: %v", a, err)
				}
			})
		}
		group.Wait()
		require.NoError(t, l.Reset(t.Context(), "k"), a)

		now := time.Now().Add(-2 * time.Hour)
		long := weir.Limit{Count: 5000, Window: time.Hour}
		brought, err := weir.New(a, long, st, &weir.Options{Clock: func() time.Time { return now }})
		require.NoError(t, err)
		many := 50
		if a.Name() == "packed-log" {
			many = 1500 // its value takes another form
		}
		for i := range many { // the first has expired when the others come
			_, err := brought.Take(t.Context(), "long", int64(1+i%2))
			require.NoError(t, err, a)
			if i == 0 {
				now = time.Now().Add(time.Minute)
			}
			now = now.Add(300 * time.Millisecond)
		}
		own, err := weir.New(a, long, st, nil)
		require.NoError(t, err)
		_, err = own.Take(t.Context(), "long", 1)
		require.NoError(t, err, a)
		_, err = own.Refund(t.Context(), "long", 30)
		require.NoError(t, err, a)
	}
}
