package memcache

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"

	"github.com/weirlimits/weir/store"
)

const (
	maxKnownChunks = 4096    // per server; the sizes of items that a limiter makes are few
	maxStats       = 1 << 20 // bytes of statistics that are read
)

// errNoStats: the server refused the statistics asked for.
var errNoStats = errors.New("the server refuses these statistics")

// slabTable is what one server told of its slabs.
type slabTable struct {
	cas      bool
	chunkMax int         // the largest chunk; 0 where there are no slabs
	active   []int       // chunk sizes of the classes in use when asked, ascending
	known    map[int]int // bytes needed to chunk size
}

// chunk returns the size of the chunk for a piece of n bytes that the server holds.
// Its class is in use, and so the smallest in use that fits.
func (t *slabTable) chunk(n int) (int, error) {
	if t.chunkMax == 0 {
		return n, nil
	}
	i, _ := slices.BinarySearch(t.active, n)
	if i == len(t.active) {
		return 0, fmt.Errorf("%w: stats slabs lists no class for %d bytes", store.ErrGarbled, n)
	}
	return t.active[i], nil
}

// sum returns the item's bytes if the chunk of each of its pieces is known.
func (t *slabTable) sum(s itemShape) (total int64, ok bool) {
	if t == nil {
		return 0, false
	}
	for _, n := range s.pieces(t) {
		chunk, ok := t.known[n]
		if !ok {
			return 0, false
		}
		total += int64(chunk)
	}
	return total, true
}

// slabTables holds a table per server. The zero value is empty.
type slabTables struct {
	mu       sync.Mutex
	byServer map[string]*slabTable
}

// size sums the chunks of an item. It asks the server unless each is known: a class
// comes into use with its first item, so an old list may lack it.
func (ts *slabTables) size(s itemShape, server string, ask func() (*slabTable, error)) (int64, error) {
	ts.mu.Lock()
	total, ok := ts.byServer[server].sum(s)
	ts.mu.Unlock()
	if ok {
		return total, nil
	}
	t, err := ask()
	if err != nil {
		return 0, err
	}

	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.byServer == nil {
		ts.byServer = make(map[string]*slabTable)
	}
	if old := ts.byServer[server]; old != nil && len(old.known) < maxKnownChunks {
		t.known = old.known
	}
	for _, n := range s.pieces(t) {
		if t.known[n], err = t.chunk(n); err != nil {
			delete(t.known, n)
			return 0, err
		}
	}
	ts.byServer[server] = t
	total, _ = t.sum(s)
	return total, nil
}

// askSlabs asks the server at addr on a connection of its own, opened as the client
// opens its own: the client has no command for statistics.
func askSlabs(ctx context.Context, client *gomemcache.Client, addr net.Addr) (*slabTable, error) {
	timeout := client.Timeout
	if timeout == 0 {
		timeout = gomemcache.DefaultTimeout
	}
	dialing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dial := client.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(dialing, addr.Network(), addr.String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	t, err := readSlabs(conn)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // what broke is of our own making
	}
	return t, err
}

func readSlabs(conn io.ReadWriter) (*slabTable, error) {
	t := &slabTable{cas: true, known: make(map[int]int)}
	replies := bufio.NewScanner(io.LimitReader(conn, maxStats))
	err := ask(conn, replies, "stats settings", func(name, value string) (err error) {
		switch name {
		case "cas_enabled":
			t.cas = value != "no"
		case "slab_chunk_max":
			t.chunkMax, err = strconv.Atoi(value)
		}
		return err
	})
	if err != nil && !errors.Is(err, errNoStats) {
		return nil, err
	}
	err = ask(conn, replies, "stats slabs", func(name, value string) error {
		if !strings.HasSuffix(name, ":chunk_size") {
			return nil
		}
		size, err := strconv.Atoi(value)
		t.active = append(t.active, size)
		return err
	})
	if errors.Is(err, errNoStats) {
		t.chunkMax = 0
		return t, nil
	}
	if err == nil && t.chunkMax <= chunkHeader {
		err = fmt.Errorf("%w: stats settings lacks slab_chunk_max", store.ErrGarbled)
	}
	slices.Sort(t.active)
	return t, err
}

// ask sends a command and gives each statistic of the reply to use.
func ask(w io.Writer, replies *bufio.Scanner, command string, use func(name, value string) error) error {
	if _, err := io.WriteString(w, command+"\r\n"); err != nil {
		return err
	}
	for replies.Scan() {
		line := replies.Text()
		if line == "END" {
			return nil
		}
		if strings.Contains(line, "ERROR") && !strings.HasPrefix(line, "STAT ") {
			return errNoStats
		}
		rest, found := strings.CutPrefix(line, "STAT ")
		name, value, _ := strings.Cut(rest, " ")
		if !found {
			return fmt.Errorf("%w: %q to %q", store.ErrGarbled, line, command)
		}
		if err := use(name, value); err != nil {
			return fmt.Errorf("%w: %q to %q", store.ErrGarbled, line, command)
		}
	}
	if err := replies.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
