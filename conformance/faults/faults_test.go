// Package faults_test lets every fault of faults.json strike a real server that 64 callers are asking, and
// holds what they were told, and what the server counted, against what the table says. The page about the
// trade-off shows the same table.
package faults_test

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFaults(t *testing.T) {
	named := map[string]int{}
	t.Run("each", func(t *testing.T) {
		for _, r := range readRows(t) {
			named[r.id()]++
			t.Run(r.id(), func(t *testing.T) {
				t.Parallel()
				switch r.Store {
				case "redis":
					fault, known := redisFaults[r.Name]
					require.True(t, known, "nothing brings it about")
					testRedis(t, r, fault)
				case "memcached":
					fault, known := memcachedFaults[r.Name]
					require.True(t, known, "nothing brings it about")
					testMemcached(t, r, fault)
				default:
					t.Fatal("no such store")
				}
			})
		}
	})
	for name := range redisFaults {
		require.Equal(t, 1, named["redis/"+name], "rows of redis/%s", name)
	}
	for name := range memcachedFaults {
		require.Equal(t, 1, named["memcached/"+name], "rows of memcached/%s", name)
	}
	require.Eventually(t, func() bool { return left() == "" }, 10*time.Second, 10*time.Millisecond, "a goroutine is left over")
}

// left returns the stack of a goroutine that a store or its client has left, if there is one.
func left() string {
	buf := make([]byte, 16<<20)
	for stack := range bytes.SplitSeq(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
		for _, of := range []string{"weir/store/", "weir/internal/combine", "go-redis", "gomemcache"} {
			if bytes.Contains(stack, []byte(of)) {
				return string(stack)
			}
		}
	}
	return ""
}
