package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

// Every verb that takes a store takes a cluster and a primary that Sentinels watch, and leaves nothing behind there.
// Only the cluster is compared: that takes seconds, and what it asks beside decisions is the other verbs' on one server.
func TestClusterAndSentinel(t *testing.T) {
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		c := servertest.Cluster(t, 3, 0)
		verbs := everyVerb(t)
		verbs["compare --format csv --quick --limit 5/1s --algorithm gcra"] = `(?m)^gcra,.*,precision,boundary-burst,max_in_window,9,`
		runVerbs(t, verbs, c.URL(), c.Masters)
	})
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		s := servertest.Sentinel(t, 1)
		runVerbs(t, everyVerb(t), s.URL(), []*server.Server{s.Primary})
	})
}

// everyVerb is what each verb prints.
func everyVerb(t *testing.T) map[string]string {
	trace := filepath.Join(t.TempDir(), "trace.csv")
	require.NoError(t, os.WriteFile(trace, []byte("time,key\n1000,a\n1000.1,a\n1000.2,a\n1000.3,b\n1000.3,c\n"), 0o600))
	return map[string]string{
		"matrix --format csv --algorithm gcra":                                      `(?m)^gcra,.*,declared,,class,ZSET \+ scripting,`,
		"replay --format csv --limit 2/1s --algorithm sliding-log --trace " + trace: `(?m)^sliding-log,.*,precision,trace,allowed,4,`,
		"hammer --algorithm gcra --requests 40 --limit 7/1h":                        `(?m)^Verdict: +exact$`,
		"conform --algorithm gcra":                                                  ` conforms\n`,
	}
}

func runVerbs(t *testing.T, verbs map[string]string, url string, masters []*server.Server) {
	for args, want := range verbs {
		verb, _, _ := strings.Cut(args, " ")
		t.Run(verb, func(t *testing.T) {
			cmd := exec.Command("weir", append(strings.Fields(args), "--store", url)...)
			cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			require.NoError(t, cmd.Run(), stderr.String()+stdout.String())
			require.Regexp(t, want, stdout.String())
			require.NotContains(t, stdout.String(), "inconclusive")
			require.NotRegexp(t, "(?m)^redis: ", stderr.String(), "the client's own log")
			for _, s := range masters {
				node := goredis.NewClient(&goredis.Options{Addr: s.Addr})
				left, err := node.DBSize(context.Background()).Result()
				require.NoError(t, err)
				require.Zero(t, left, "keys left behind")
				require.NoError(t, node.Close())
			}
		})
	}
}
