package choose_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/choose"
	"github.com/weirlimits/weir/store"
)

// TestProgramsCompile vets a program for each kind of answer, within this module.
func TestProgramsCompile(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp(".", "_programs") // which ./... leaves out
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	folders := []string{"vet"}
	for i, s := range []struct {
		store store.Traits
		limit string
		want  choose.Want
		url   string
		lines []string
	}{
		{named(t, "redis"), "100/1m", choose.Want{Clients: 1}, "", []string{
			`redis.Open("redis://localhost:6379/0", nil)`, "weir.FailClosed(limiter",
		}},
		{named(t, "redis"), "10/15m", choose.Want{Clients: 1, Keys: 2}, "redis+cluster://a,b", []string{
			`redis.Open("redis+cluster://a,b", nil)`, "15 * time.Minute", `"account"`,
		}},
		{named(t, "memcache"), "100/1m", choose.Want{Clients: 1, Over: 1}, "memcache://a:1,b:2", []string{
			`memcache.Open([]string{"a:1", "b:2"}, nil)`, "weir.FailOpen(limiter",
			"weir.Layer{Algorithm: algorithm, Limit: weir.Limit{Count: 5, Window: time.Second}}",
		}},
		{named(t, "redis"), "100/1m+500/1h+5/1s", choose.Want{Clients: 1}, "", []string{
			"weir.Layered(algorithm, weir.Layer{Algorithm: algorithm, Limit: weir.Limit{Count: 500, Window: time.Hour}}, weir.Layer{",
		}},
		{named(t, "memcache+counter"), "10/1500us", choose.Want{Clients: 1}, "", []string{
			"st.CounterOnly()", "1500 * time.Microsecond",
		}},
		{named(t, "memory"), "1000000/24h", choose.Want{Clients: 1, Cost: 2000}, "", []string{
			"st := memory.New(nil)", "return 2000",
		}},
	} {
		s.want.Limits = limits(t, s.limit)
		a, err := choose.For(s.store, s.want)
		require.NoError(t, err)
		source, err := a.Program(s.url)
		require.NoError(t, err)
		for _, line := range s.lines {
			require.Contains(t, string(source), line)
		}
		require.LessOrEqual(t, strings.Count(string(source), "\n"), 46)
		folder := filepath.Join(dir, strconv.Itoa(i))
		folders = append(folders, "./"+folder)
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"), source, 0o644))
	}
	out, err := exec.Command("go", folders...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestNoProgram(t *testing.T) {
	t.Parallel()
	own := named(t, "redis")
	own.Name = "dynamo"
	a, err := choose.For(own, choose.Want{Limits: limits(t, "10/1s"), Clients: 1})
	require.NoError(t, err)
	_, err = a.Program("")
	require.ErrorContains(t, err, `store "dynamo": want memory, redis or memcache`)
	a, err = choose.For(store.Traits{Name: "tape"}, choose.Want{Limits: limits(t, "10/1s"), Clients: 1})
	require.NoError(t, err)
	_, err = a.Program("")
	require.ErrorContains(t, err, "no recommendation")
}
