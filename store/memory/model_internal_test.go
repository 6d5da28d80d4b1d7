package memory

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
)

// rewrite is a step that does to a state whatever a step may: parameters are how, a
// length, and a byte to fill with.
var rewrite = &store.Step{Name: "rewrite", Func: func(state []byte, a store.Args) store.Result {
	how, n, fill := a.Params[0], int(a.Params[1]), byte(a.Params[2])
	switch {
	case how == 0:
		return store.Result{Reply: store.Reply{Allowed: true, Remaining: int64(len(state))}}
	case how == 1 && len(state) > 0: // a part of what was there
		state = state[min(n, len(state)-1):]
	case how == 2 && cap(state) >= n: // in place, also beyond its length
		old := len(state)
		state = state[:n]
		for i := min(old, n); i < n; i++ {
			state[i] = fill
		}
	default:
		state = bytes.Repeat([]byte{fill}, n)
	}
	return store.Result{State: state, TTL: a.Params[3], Reply: store.Reply{Allowed: true}}
}}

// rewritten is what rewrite makes of a value, given the room that there was.
func rewritten(value []byte, room, how, n int, fill byte) []byte {
	switch {
	case how == 1 && len(value) > 0:
		return slices.Clone(value[min(n, len(value)-1):])
	case how == 2 && room >= n && len(value) < n:
		return append(slices.Clone(value), bytes.Repeat([]byte{fill}, n-len(value))...)
	case how == 2 && room >= n:
		return slices.Clone(value[:n])
	default:
		return bytes.Repeat([]byte{fill}, n)
	}
}

type held struct {
	value   []byte
	count   int64
	list    []string
	kind    kind
	expires int64
}

// The store does what a plain map does, under any mix of operations, lengths, expiry,
// sweeps and colliding hashes, and its parts agree with each other all along.
func TestTheStoreIsAMap(t *testing.T) {
	for _, mask := range []uint64{^uint64(0), 0xffffffff_00000000, 0xfff, 0x200, 0} {
		t.Run(fmt.Sprintf("mask=%x", mask), func(t *testing.T) {
			for seed := range uint64(2) {
				model(t, mask, seed)
			}
		})
	}
}

func model(t *testing.T, mask, seed uint64) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(seed, mask))
	now := int64(1_700_000_000_000_000)
	s := New(&Options{Clock: func() time.Time { return time.UnixMicro(now) }})
	defer s.Close()
	close(s.stop) // no sweep but the test's own
	s.swept.Wait()
	s.stop = make(chan struct{})
	const space = "space/"
	run, err := s.Prepare(rewrite, space)
	require.NoError(t, err)
	table := run.(*runner).table
	table.mask, s.raw.mask = mask, mask

	keys := []string{""}
	for i := range 150 {
		keys = append(keys, strings.Repeat("k", rng.IntN(20))+fmt.Sprint(i))
	}
	for _, n := range []int{128, 253, 254, 255, 256, 600, 10_000} {
		keys = append(keys, strings.Repeat("l", n), strings.Repeat("l", n-1)+"m")
	}
	want := map[string]held{}
	live := func(full string) (held, bool) {
		h, ok := want[full]
		return h, ok && h.expires > now
	}
	length := func() int {
		return []int{rng.IntN(20), rng.IntN(20), 15, 16, 17, inlineMost/2 + rng.IntN(3), inlineMost - 1 + rng.IntN(3), rng.IntN(700)}[rng.IntN(8)]
	}
	for op := range 4000 {
		key := keys[rng.IntN(len(keys))]
		full := space + key
		if rng.IntN(3) == 0 {
			full = key
		}
		h, ok := live(full)
		ttl := time.Duration(1+rng.IntN(5000)) * time.Microsecond
		says := fmt.Sprintf("seed %d op %d key %.20q", seed, op, full)
		switch rng.IntN(12) {
		default:
			how, n, fill := rng.IntN(4), length(), byte(op)
			full = space + key
			h, ok = live(full)
			room := scratchSize
			if p, r := table.shard(table.hash(key)).find(table.hash(key), key); p != none {
				room = cap(table.shard(table.hash(key)).value(r))
			}
			reply, err := run.Run(ctx, key, store.Args{OwnTime: true, Params: []int64{int64(how), int64(n), int64(fill), ttl.Microseconds()}})
			if ok && h.kind != kindValue {
				require.ErrorIs(t, err, errKind, says)
				break
			}
			require.NoError(t, err, says)
			if how == 0 {
				require.EqualValues(t, len(h.value)*btoi(ok), reply.Remaining, says)
				break
			}
			if !ok {
				h = held{}
			}
			want[full] = held{kind: kindValue, value: rewritten(h.value, room, how, n, fill), expires: now + ttl.Microseconds()}
		case 0:
			n, err := s.Add(ctx, full, 3, ttl)
			if ok && h.kind != kindCounter {
				require.ErrorIs(t, err, errKind, says)
				break
			}
			require.NoError(t, err, says)
			if !ok {
				h = held{kind: kindCounter, expires: now + ttl.Microseconds()}
			}
			h.count += 3
			require.Equal(t, h.count, n, says)
			want[full] = h
		case 1:
			value := bytes.Repeat([]byte{byte(op)}, length())
			_, v, err := s.Load(ctx, full)
			if ok && h.kind != kindValue {
				require.ErrorIs(t, err, errKind, says)
				break
			}
			require.NoError(t, err, says)
			done, err := s.Swap(ctx, full, v, value, ttl)
			require.NoError(t, err, says)
			require.True(t, done, says)
			want[full] = held{kind: kindValue, value: value, expires: now + ttl.Microseconds()}
			value = append(value, 1)
			clear(value) // the store keeps nothing of the caller's
			want[full] = held{kind: kindValue, value: bytes.Repeat([]byte{byte(op)}, len(value)-1), expires: now + ttl.Microseconds()}
		case 2:
			n, err := s.PushFront(ctx, full, ttl, fmt.Sprint(op))
			if ok && h.kind != kindList {
				require.ErrorIs(t, err, errKind, says)
				break
			}
			require.NoError(t, err, says)
			if !ok {
				h = held{kind: kindList}
			}
			h.list = append(h.list, fmt.Sprint(op))
			h.expires = now + ttl.Microseconds()
			require.EqualValues(t, len(h.list), n, says)
			want[full] = h
		case 3:
			if ok && h.kind == kindList {
				require.NoError(t, s.Trim(ctx, full, 7, 9), says)
				if h.list = h.list[max(len(h.list)-10, 0):max(len(h.list)-7, 0)]; len(h.list) == 0 {
					delete(want, full)
				} else {
					want[full] = h
				}
			}
		case 4:
			require.NoError(t, s.Delete(ctx, full), says)
			delete(want, full)
		case 5:
			now += int64(rng.IntN(200))
		case 6:
			if rng.IntN(20) == 0 {
				now += int64(rng.IntN(6000))
				s.Sweep()
			}
		}
		if op%500 == 499 {
			verify(t, table, says)
			verify(t, s.raw, says)
			agree(t, s, want, now, says)
		}
	}
}

func btoi(b bool) int { return bits.OnesCount8(map[bool]uint8{true: 1}[b]) }

// agree compares every key that was ever there.
func agree(t *testing.T, s *Store, want map[string]held, now int64, says string) {
	ctx := context.Background()
	for full, h := range want {
		ttl, err := s.TTL(ctx, full)
		require.NoError(t, err)
		require.Equal(t, max(h.expires-now, 0), ttl.Microseconds(), "%s: ttl of %.20q", says, full)
		if h.expires <= now {
			continue
		}
		switch h.kind {
		case kindValue:
			value, _, err := s.Load(ctx, full)
			require.NoError(t, err)
			require.True(t, bytes.Equal(h.value, value), "%s: value of %.20q", says, full)
		case kindCounter:
			counts, err := s.Read(ctx, full)
			require.NoError(t, err)
			require.Equal(t, []int64{h.count}, counts)
		case kindList:
			first, ok, err := s.Index(ctx, full, 0)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, h.list[len(h.list)-1], first)
		}
	}
}

// verify holds a table's parts against each other: each record is where a search finds
// it, every bucket counts those that passed it, and the sums are right.
func verify(t *testing.T, table *table, says string) {
	for n := range table.shards {
		sh := &table.shards[n]
		passedBy := make([]uint32, sh.n)
		keys, besides, used := 0, 0, 0
		for i := range sh.n {
			b := sh.bucket(i)
			u := bucketHead
			for u < b.end() {
				r := b.record(u)
				require.GreaterOrEqual(t, r.units(), 2, says)
				keys++
				used += r.units()
				key := string(r.keyBytes())
				if r.kind() == kindBeside {
					besides++
					if r.isLong() {
						key = sh.extension(r).key
					}
				}
				hash := table.hash(key)
				require.Same(t, sh, table.shard(hash), says)
				p, _ := sh.find(hash, key)
				require.Equal(t, sh.join(i, u), p, "%s: %.20q", says, key)
				for at := sh.home(hash); at != i; at = sh.after(at) {
					passedBy[at]++
				}
				u += r.units()
			}
			require.Equal(t, b.end(), u, says)
		}
		require.EqualValues(t, sh.count, keys, says)
		require.EqualValues(t, sh.used, used, says)
		for i := range sh.n {
			require.Equal(t, passedBy[i], sh.bucket(i).passed(), says)
		}
		if sh.beside != nil {
			require.Equal(t, besides, len(sh.beside.all)-len(sh.beside.free), says)
		}
	}
}
