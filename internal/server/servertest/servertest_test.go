package servertest_test

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
)

func TestServersStopWithTheirTest(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *server.Server{
		"redis": servertest.Redis, "memcached": servertest.Memcached,
	} {
		t.Run(name, func(t *testing.T) {
			var first, second *server.Server
			t.Run("inner", func(t *testing.T) {
				first, second = start(t), start(t)
				require.NotEqual(t, first.PID, second.PID, "each call starts a server of its own")
			})
			if first == nil {
				t.Skip("not covered here: the end of a real server")
			}
			for _, s := range []*server.Server{first, second} {
				_, err := net.Dial("tcp", s.Addr)
				require.Error(t, err, "stopped when the inner test ended")
			}
		})
	}
}

func TestMissingProgramSkips(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("WEIR_REQUIRE_SERVERS", "")
	for name, start := range map[string]func(testing.TB) *server.Server{
		"redis-server": servertest.Redis, "memcached": servertest.Memcached,
	} {
		rec := record(func(tb testing.TB) { start(tb) })
		require.Contains(t, rec.skipped, "not covered here: TestRecorded against a real server")
		require.Contains(t, rec.skipped, name)
		require.Empty(t, rec.failed)
	}
}

func TestMissingProgramFailsWhereRequired(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("WEIR_REQUIRE_SERVERS", "1")
	rec := record(func(tb testing.TB) { servertest.Redis(tb) })
	require.Empty(t, rec.skipped)
	require.Contains(t, rec.failed, "redis-server is not on PATH")
}

func TestOtherErrorsFail(t *testing.T) {
	t.Setenv("WEIR_REQUIRE_SERVERS", "")
	rec := record(func(tb testing.TB) { servertest.Adopt(tb, (*server.Server)(nil), errors.New("server: broken")) })
	require.Empty(t, rec.skipped)
	require.Equal(t, "server: broken", rec.failed)
}

// A recorder is a test that notes how it was ended.
type recorder struct {
	testing.TB
	skipped, failed string
}

// record runs f as a test of its own would run.
func record(f func(testing.TB)) *recorder {
	rec := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(rec)
	}()
	<-done
	return rec
}

func (*recorder) Helper()        {}
func (*recorder) Name() string   { return "TestRecorded" }
func (*recorder) Cleanup(func()) {}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.failed = fmt.Sprint(args...)
	runtime.Goexit()
}
