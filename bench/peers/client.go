package peers

import (
	"runtime"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// ClientOptions are those of every client here, ours and the peers': nothing is sent twice, deadlines
// are kept, and the pool has a connection for each caller.
func ClientOptions(addr string, callers int) *goredis.Options {
	return &goredis.Options{
		Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true, DialerRetries: 1,
		PoolSize:                 max(32, callers, 10*runtime.GOMAXPROCS(0)),
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}
