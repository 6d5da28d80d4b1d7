package faults_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"
	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/memcache"
)

// memcachedFault is how a fault of memcached is brought about.
type memcachedFault struct {
	options server.MemcachedOptions
	proxied bool
	strike  func(f *memcachedField)
}

var memcachedFaults = map[string]memcachedFault{
	"restarted": {strike: func(f *memcachedField) {
		require.NoError(f.t, f.server.Kill())
		f.awaitFailures(all)
		f.start(f.server.Port)
		f.losses++
		f.awaitMoreThanTheLimit()
	}},
	"reply-lost": {proxied: true, strike: func(f *memcachedField) {
		f.executes = true
		f.way.worsen("reply", reply{Cut: true})
		f.awaitFailures(isWide)
		f.way.mend("reply")
	}},
	"garbled": {proxied: true, strike: func(f *memcachedField) {
		for _, bad := range []reply{
			{New: []byte("\x00\xff nonsense\r\n")},
			{New: []byte("\r\n")},
			{Old: []byte("\r\n"), New: []byte("x\r\n")},
			{New: []byte("VALU"), Cut: true},
			{New: []byte("VALUE k 0 1000 7\r\nx"), Cut: true},
			{New: []byte("1"), Cut: true},
		} {
			f.way.worsen("reply", bad)
			f.awaitFailures(isWide)
			f.way.mend("reply")
		}
	}},
	"late":     {proxied: true, strike: func(f *memcachedField) { f.late() }},
	"too-late": {proxied: true, strike: func(f *memcachedField) { f.tooLate() }},
	"full": {
		options: server.MemcachedOptions{MegaBytes: 2, Args: []string{"-M"}},
		strike: func(f *memcachedField) {
			f.fillUntil(swaps, func(s *subject) bool { return s.outcomes[during].failed.Load() > 0 })
			f.empty()
		},
	},
	"evicting": {
		// A key that is only read is the next to go under this policy, however often that is.
		options: server.MemcachedOptions{MegaBytes: 2, Args: []string{"-o", "no_modern,no_lru_maintainer,no_lru_crawler"}},
		strike: func(f *memcachedField) {
			f.fillUntil(isTight, func(s *subject) bool { return s.allowed() > tight.Count })
			f.losses = f.stat("evictions")
		},
	},
	"crowded": {options: server.MemcachedOptions{Conns: 4 * callers}, proxied: true, strike: (*memcachedField).crowd},
}

// swaps are those whose every admission needs room for another value.
func swaps(s *subject) bool { return isWide(s) && s.plain.Algorithm().Name() == "gcra" }

// memcachedField is a field on memcached, and the way around the callers' own.
type memcachedField struct {
	field
	options server.MemcachedOptions
	admin   net.Conn
	lines   *bufio.Reader
	filled  int
}

func testMemcached(t *testing.T, r row, fault memcachedFault) {
	f := &memcachedField{field: field{t: t, row: r}, options: fault.options}
	f.start(0)
	f.addr = f.server.Addr
	addr := f.addr
	if fault.proxied {
		f.way = newWay(t, f.addr)
		addr = f.way.proxy.Listen
	}
	gathered, err := memcache.Open([]string{addr}, nil)
	require.NoError(t, err)
	servers := new(gomemcache.ServerList)
	require.NoError(t, servers.SetServers(addr))
	client := gomemcache.NewFromSelector(servers)
	client.Timeout, client.MaxIdleConns = time.Second, callers
	alone, err := memcache.New(client, servers)
	require.NoError(t, err)
	f.handles = []handle{{"gathered", gathered, nil}, {"client", alone, client}}
	f.subjects = newSubjects(t, r, f.handles)
	f.replay(func(*field) { fault.strike(f) }, func() int { return int(f.stat("curr_connections")) })
}

// start starts the server, on the port that it had.
func (f *memcachedField) start(port int) {
	o := f.options
	o.Port = port
	s, err := server.StartMemcached(context.Background(), &o)
	f.server = servertest.Adopt(f.t, s, err)
	f.admin, err = net.Dial("tcp", f.server.Addr)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = f.admin.Close() })
	require.NoError(f.t, f.admin.SetDeadline(time.Now().Add(10*patience)))
	f.lines = bufio.NewReader(f.admin)
}

// tell sends commands and returns the lines of the answers, up to and without the last.
func (f *memcachedField) tell(commands, last string) (lines []string) {
	_, err := f.admin.Write([]byte(commands))
	require.NoError(f.t, err)
	for {
		line, err := f.lines.ReadString('\n')
		require.NoError(f.t, err)
		if line = strings.TrimSpace(line); strings.HasPrefix(line, last) {
			return lines
		}
		lines = append(lines, line)
	}
}

// stat returns a number of the statistics.
func (f *memcachedField) stat(name string) int64 {
	for _, line := range f.tell("stats\r\n", "END") {
		if value, found := strings.CutPrefix(line, "STAT "+name+" "); found {
			n, err := strconv.ParseInt(value, 10, 64)
			require.NoError(f.t, err)
			return n
		}
	}
	f.t.Fatalf("no statistic %s", name)
	return 0
}

// fillUntil writes other values, as large as the limiters' own, until the condition holds.
func (f *memcachedField) fillUntil(which, holds func(*subject) bool) {
	f.await("the effect of a full server", which, func(s *subject) bool {
		if holds(s) {
			return true
		}
		var b strings.Builder
		for range 1000 {
			size := []int{10, 40, 70, 100}[f.filled%4]
			fmt.Fprintf(&b, "set filler%d 0 0 %d noreply\r\n%s\r\n", f.filled, size, strings.Repeat("x", size))
			f.filled++
		}
		f.tell(b.String()+"version\r\n", "VERSION")
		return false
	})
}

// empty deletes what fillUntil wrote.
func (f *memcachedField) empty() {
	var b strings.Builder
	for i := range f.filled {
		fmt.Fprintf(&b, "delete filler%d noreply\r\n", i)
	}
	f.tell(b.String()+"version\r\n", "VERSION")
}

// crowd takes all connections that the server accepts, once the callers' own are cut.
func (f *memcachedField) crowd() {
	var others []net.Conn
	defer func() {
		for _, c := range others {
			_ = c.Close()
		}
	}()
	refused := func() bool {
		c, err := net.Dial("tcp", f.addr)
		require.NoError(f.t, err)
		others = append(others, c)
		_, err = c.Write([]byte("version\r\n"))
		require.NoError(f.t, err)
		line, _ := bufio.NewReader(c).ReadString('\n')
		return !strings.HasPrefix(line, "VERSION")
	}
	for !refused() {
	}
	f.way.worsen("reply", reply{Cut: true})
	f.awaitFailures(isWide)
	for !refused() {
	}
	f.way.mend("reply")
	f.awaitFailures(isWide)
}
