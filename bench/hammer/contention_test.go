package hammer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/hammer"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// One key, 256 callers in one process and in eight: compare-and-swap on memcached admits exactly
// a thousand an hour, and no caller gives up. None of these refills within the hour.
func TestManyCallersOfOneKeyOnMemcached(t *testing.T) {
	stores := map[string]hammer.Store{}
	_, stores["memcachetest"] = miniMemcached(t)
	stores["memcached"] = open(t, "memcache://"+servertest.Memcached(t).Addr)
	for name, st := range stores {
		these := parse(t, "packed-log", "packed-log,error=12.5%", "bucketed-window", "fixed-window-first-hit")
		if name == "memcachetest" {
			these = these[:1] // it is slow
		}
		for processes, workers := range map[int]int{1: 256, 8: 32} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, processes, workers), func(t *testing.T) {
				c := config(t, these, st)
				c.Limit = weir.Limit{Count: 1000, Window: time.Hour}
				c.Processes, c.Workers, c.Requests = processes, workers, 1500
				results := run(t, c).Results
				require.Len(t, results, len(these))
				for _, r := range results {
					require.Equal(t, "compare-and-swap", r.Plan)
					requireExact(t, 1000, 1500, r)
					t.Logf("%s on %s: %v", r.Algorithm, r.Store, time.Duration(r.Runs[0].ElapsedUS)*time.Microsecond)
				}
			})
		}
	}
}
