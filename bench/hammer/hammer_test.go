package hammer_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/hammer"
	"github.com/weirlimits/weir/bench/racy"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/memcache/memcachetest"
	"github.com/weirlimits/weir/store/redis"
)

// workerEnv makes this test binary a worker process.
const workerEnv = "WEIR_TEST_HAMMER_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		if err := hammer.Work(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func worker() *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(path)
	// The race detector lets a process wait for a second at its end, unless told otherwise.
	cmd.Env = append(os.Environ(), workerEnv+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// config is a small run: 3 processes of 4 workers, 300 requests, 10 per hour.
func config(t *testing.T, algorithms []weir.Algorithm, stores ...hammer.Store) hammer.Config {
	return hammer.Config{
		Algorithms: algorithms, Limit: weir.Limit{Count: 10, Window: time.Hour},
		Stores: stores, Processes: 3, Workers: 4, Requests: 300, Runs: 1, Command: worker,
	}
}

func open(t *testing.T, url string) hammer.Store {
	b, err := backend.Open(context.Background(), url, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return hammer.Store{Backend: b, URL: url}
}

// miniRedis is a stand-in that the test can look into.
func miniRedis(t *testing.T) (*miniredis.Miniredis, hammer.Store) {
	server := miniredis.RunT(t)
	url := "redis://" + server.Addr() + "/0"
	st, err := redis.Open(url, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return server, hammer.Store{URL: url, Backend: &backend.Backend{
		Store: st, Name: url, Kind: backend.KindRedis, Addr: server.Addr(), Shared: true,
	}}
}

// miniMemcached is a stand-in that the test can look into.
func miniMemcached(t *testing.T) (*memcachetest.Server, hammer.Store) {
	server, err := memcachetest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	st, err := memcache.Open([]string{server.Addr()}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	url := "memcache://" + server.Addr()
	return server, hammer.Store{URL: url, Backend: &backend.Backend{
		Store: st, Name: url, Kind: backend.KindMemcache, Addr: server.Addr(), Shared: true,
	}}
}

func parse(t *testing.T, names ...string) (all []weir.Algorithm) {
	for _, name := range names {
		a, err := hammer.ParseAlgorithm(name)
		require.NoError(t, err)
		all = append(all, a)
	}
	return all
}

func run(t *testing.T, c hammer.Config) *hammer.Report {
	rep, err := hammer.Run(t.Context(), c)
	require.NoError(t, err)
	return rep
}

// requireExact checks that every run of a result let exactly n through and denied the rest.
func requireExact(t *testing.T, n, requests int64, r hammer.Result) {
	what := r.Algorithm + " on " + r.Store
	require.Equal(t, n, r.ExpectedMax, what)
	require.NotEmpty(t, r.Runs, what)
	for _, c := range r.Runs {
		require.Equal(t, []int64{n, requests - n}, []int64{c.Allowed, c.Denied}, what)
	}
	require.Equal(t, hammer.Exact, r.Verdict, what)
	require.True(t, r.OK(), what)
}

func TestEachProcessCountsAloneInMemory(t *testing.T) {
	c := config(t, algorithms.All(), open(t, "memory:"))
	c.Processes, c.Latencies = 4, []time.Duration{0, time.Millisecond}
	rep := run(t, c)
	require.Len(t, rep.Results, len(algorithms.All()), "a latency is for servers: memory has one result per algorithm")
	for _, r := range rep.Results {
		require.True(t, r.PerProcess)
		requireExact(t, 40, 300, r)
	}
}

func TestStandInsLetExactlyTheLimitThrough(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	stores := []hammer.Store{open(t, "redis:private"), open(t, "memcache:private"), open(t, "memcache+counter:private")}
	c := config(t, algorithms.All(), stores...)
	c.Processes, c.Requests = 2, 45 // the stand-ins are slow
	rep := run(t, c)
	ran := map[string]int{}
	for _, r := range rep.Results {
		if r.Unsupported != "" {
			require.Contains(t, r.Unsupported, "needs ")
			require.NotEmpty(t, r.Missing)
			continue
		}
		ran[r.Plan]++
		require.False(t, r.PerProcess)
		require.True(t, r.OK(), "%s on %s: %s", r.Algorithm, r.Store, &r)
		if r.Exactness == "atomic" {
			requireExact(t, 10, 45, r)
		}
	}
	require.Equal(t, len(algorithms.All()), ran["script"])
	require.NotZero(t, ran["compare-and-swap"])
	require.NotZero(t, ran["counter"])
}

func TestRealServersLetExactlyTheLimitThrough(t *testing.T) {
	c := config(t, algorithms.All(), open(t, "redis://"+servertest.Redis(t).Addr+"/0"), open(t, "memcache://"+servertest.Memcached(t).Addr))
	c.Processes, c.Workers, c.Requests, c.Runs = 4, 5, 300, 3
	if os.Getenv("WEIR_SOAK") == "1" {
		c.Requests, c.Runs = 3000, 20
	}
	for _, r := range run(t, c).Results {
		if r.Unsupported == "" && r.Exactness == "atomic" {
			require.Len(t, r.Runs, c.Runs)
			requireExact(t, 10, c.Requests, r)
		}
		require.True(t, r.Unsupported != "" || r.OK(), "%s on %s: %s", r.Algorithm, r.Store, &r)
	}
}

func TestRacyLetMoreThroughTheSlowerTheServer(t *testing.T) {
	c := config(t, parse(t, "sliding-log-racy", "ring-log-racy", "gcra"), open(t, "redis://"+servertest.Redis(t).Addr+"/0"))
	c.Processes, c.Workers, c.Requests, c.Latencies = 4, 5, 200, []time.Duration{0, 5 * time.Millisecond}
	c.Spread = 2 * time.Millisecond
	rep := run(t, c)
	require.EqualValues(t, 2000, rep.SpreadUS)
	require.Len(t, rep.Results, 6)
	for i, r := range rep.Results {
		require.Equal(t, c.Latencies[i%2].Microseconds(), r.LatencyUS, "an algorithm's latencies stand together")
		require.True(t, r.OK(), "a racy limiter gave no word: %s", &r)
		switch {
		case r.Algorithm == "gcra":
			requireExact(t, 10, 200, r)
		case r.LatencyUS > 0:
			require.Equal(t, hammer.Over, r.Verdict)
			least, _ := r.Excess()
			require.Positive(t, least)
			require.Regexp(t, `^racy: \d+ over$`, r.String())
		}
	}
}

func TestWhatKeepsNothingInAStoreRunsOnce(t *testing.T) {
	_, memcached := miniMemcached(t)
	c := config(t, []weir.Algorithm{racy.MemoryNaive()}, memcached, open(t, "memory:"))
	rep := run(t, c)
	require.Len(t, rep.Results, 1)
	require.Equal(t, "memory:", rep.Results[0].Store)
	require.True(t, rep.Results[0].PerProcess)
	require.True(t, rep.Results[0].Storeless)
	require.EqualValues(t, 30, rep.Results[0].ExpectedMax)

	c.Stores = c.Stores[:1]
	require.Len(t, run(t, c).Results, 1, "it also runs where there is no memory store")
}

func TestFewerRequestsThanTheLimit(t *testing.T) {
	_, memcached := miniMemcached(t)
	c := config(t, parse(t, "gcra"), memcached, open(t, "memory:"))
	c.Requests = 7 // 3, 2 and 2
	for _, r := range run(t, c).Results {
		requireExact(t, 7, 7, r)
	}
}

func TestRunStartsAgainWhereTimeFreesAPlace(t *testing.T) {
	c := config(t, parse(t, "gcra,burst=1"), open(t, "memory:"))
	c.Limit = weir.Limit{Count: 1000, Window: time.Millisecond} // a place each microsecond
	r := run(t, c).Results[0]
	require.Equal(t, hammer.Undecided, r.Verdict)
	require.False(t, r.OK())
	require.True(t, r.Runs[0].PlaceFreed)
	require.Equal(t, hammer.MaxRestarts, r.Runs[0].Restarts)
	require.Contains(t, r.String(), "undecided: time freed a place in each of 6 attempts")
}

func TestKeysAreRemoved(t *testing.T) {
	m, memcached := miniMemcached(t)
	r, redis := miniRedis(t)
	c := config(t, parse(t, "fixed-window", "sliding-counter", "gcra", "sliding-log"), redis, memcached)
	require.NoError(t, r.Set("foreign", "kept"))
	c.Runs, c.Requests = 2, 40
	run(t, c)
	require.Equal(t, []string{"foreign"}, r.Keys())
	require.Zero(t, m.Stats().CurrItems)
	require.NotZero(t, m.Stats().TotalItems)
}

func TestServerThatEndsLeavesTheRestUndecided(t *testing.T) {
	r, redis := miniRedis(t)
	c := config(t, parse(t, "gcra", "fixed-window"), redis)
	c.Runs, c.Requests = 2, 40
	c.Progress = func(done, total int, next hammer.Result) {
		require.Equal(t, 4, total)
		if done == 1 {
			r.Close()
		}
	}
	rep := run(t, c)
	require.Len(t, rep.Results, 2)
	for _, r := range rep.Results {
		require.Equal(t, hammer.Undecided, r.Verdict)
		require.NotEmpty(t, r.Error)
	}
	require.Len(t, rep.Results[0].Runs, 1, "what was seen is kept")
}

func TestInterruptEndsTheProcessesAndRemovesTheKeys(t *testing.T) {
	m, memcached := miniMemcached(t)
	c := config(t, parse(t, "gcra"), memcached)
	c.Requests = 100_000_000
	var started []*exec.Cmd
	c.Command = func() *exec.Cmd {
		started = append(started, worker())
		return started[len(started)-1]
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for m.Stats().CmdGet < 1000 { // until the run is under way, and all places are taken
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, err := hammer.Run(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, started, 3)
	for _, cmd := range started {
		require.NotNil(t, cmd.ProcessState, "waited for")
	}
	require.Zero(t, m.Stats().CurrItems)
}

func TestProcessThatDiesIsAnError(t *testing.T) {
	c := config(t, parse(t, "gcra"), open(t, "memory:"))
	c.Command = func() *exec.Cmd {
		return exec.Command(os.Args[0], "-no-such-flag")
	}
	_, err := hammer.Run(t.Context(), c)
	require.ErrorContains(t, err, "hammer: worker process")
	require.ErrorContains(t, err, "no-such-flag")

	c.Command = func() *exec.Cmd { return exec.Command(t.TempDir() + "/nothing") }
	_, err = hammer.Run(t.Context(), c)
	require.ErrorContains(t, err, "hammer: worker process")
}

func TestConfigNamesTheFieldThatIsWrong(t *testing.T) {
	for want, change := range map[string]func(*hammer.Config){
		"processes: 0: want 1 to 64":       func(c *hammer.Config) { c.Processes = 0 },
		"workers: 1025: want 1 to 1024":    func(c *hammer.Config) { c.Workers = 1025 },
		"requests: -1: want 1 to":          func(c *hammer.Config) { c.Requests = -1 },
		"runs: 0: want 1 to 10000":         func(c *hammer.Config) { c.Runs = 0 },
		"latency: -1ms: want 0 to 10s":     func(c *hammer.Config) { c.Latencies = []time.Duration{-time.Millisecond} },
		"limit count: 0: want 1 to":        func(c *hammer.Config) { c.Limit.Count = 0 },
		"spread: 11s: want 0 to 10s":       func(c *hammer.Config) { c.Spread = 11 * time.Second },
		"latency: 1m0s: want 0 to 10s":     func(c *hammer.Config) { c.Latencies = []time.Duration{0, time.Minute} },
		"processes: 100000: want 1 to 64":  func(c *hammer.Config) { c.Processes = 100_000 },
		"limit window: 0s: want 1ms to 36": func(c *hammer.Config) { c.Limit.Window = 0 },
	} {
		c := config(t, algorithms.All(), open(t, "memory:"))
		change(&c)
		_, err := hammer.Run(t.Context(), c)
		require.ErrorContains(t, err, want)
	}
}

func TestUnsupportedIsListed(t *testing.T) {
	c := config(t, parse(t, "sliding-log", "ring-log-racy"), open(t, "memory:"))
	c.Limit.Window = 500 * time.Millisecond
	results := run(t, c).Results
	require.Len(t, results, 2)
	i := slices.IndexFunc(results, func(r hammer.Result) bool { return r.Unsupported != "" })
	require.Equal(t, "ring-log-racy", results[i].Algorithm)
	require.Contains(t, results[i].Unsupported, "whole seconds")
	require.Empty(t, results[i].Verdict)
	require.True(t, results[i].OK(), "what cannot run has broken no word")
}

func TestPrivateServersAreReached(t *testing.T) {
	for _, r := range run(t, config(t, parse(t, "gcra"), open(t, "redis:private"), open(t, "memcache:private"))).Results {
		requireExact(t, 10, 300, r)
	}
}
