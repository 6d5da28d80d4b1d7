package httplimit_test

import (
	"net"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/redis"
)

// RL-095: a store that never was reached holds nobody up either, on our own clients and on
// those with the timeouts that their libraries have.
func TestRL095UnreachableStore(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts, and nobody answers
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, silent.Close()) })
	addrs := map[string]string{"refuses": "127.0.0.1:1", "never answers": silent.Addr().String()}
	for name, open := range map[string]func(t *testing.T, addr string) (store.Store, error){
		"redis": func(_ *testing.T, addr string) (store.Store, error) { return redis.Open("redis://"+addr, nil) },
		"user's redis": func(t *testing.T, addr string) (store.Store, error) {
			client := goredis.NewClient(&goredis.Options{Addr: addr})
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			return redis.New(client, nil), nil
		},
		"memcache": func(_ *testing.T, addr string) (store.Store, error) { return memcache.Open([]string{addr}, nil) },
		"user's memcache": func(t *testing.T, addr string) (store.Store, error) {
			servers := new(gomemcache.ServerList)
			if err := servers.SetServers(addr); err != nil {
				return nil, err
			}
			return memcache.New(gomemcache.NewFromSelector(servers), servers)
		},
	} {
		for trouble, addr := range addrs {
			t.Run(name+"/"+trouble, func(t *testing.T) {
				t.Parallel() // it mostly waits
				st, err := open(t, addr)
				require.NoError(t, err)
				defer func() { require.NoError(t, st.Close()) }()
				l, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 10, Window: time.Second}, st, nil)
				require.NoError(t, err)
				guard := weir.FailOpen(l, &weir.GuardOptions{Timeout: guardTimeout, Pause: guardPause})
				longest := admitsAtOnce(t, guard)
				t.Logf("longest decision %v of %v", longest, guardTimeout)
			})
		}
	}
}
