package bench

import (
	"context"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store/memory"
)

const (
	keysRounds = 5
	keysEach   = 10_000 // decisions in a round
	heapKeys   = 1000   // fewer do not show in the heap
)

// keysWindow is the longest window. A single key meets tens of thousands of them, and years end.
const keysWindow = time.Minute

// keysMeter fills one store in this process with more and more keys. Simulated time goes on by two windows
// from one request of a key to its next, so that each holds one event.
type keysMeter struct {
	limiter *weir.Weir
	store   *memory.Store
	now     int64
	window  int64
	keys    int64 // made so far
	turn    int64
	asked   int64
	before  int64 // the live heap, without any
}

func newKeysMeter(p pair) (*keysMeter, error) {
	p.limit.Window = min(p.limit.Window, keysWindow)
	m := &keysMeter{
		store: memory.New(nil), window: p.limit.Window.Microseconds(), now: simulatedStart(p.limit.Window),
	}
	p.limit.Count = max(p.limit.Count, 2)
	var err error
	m.limiter, err = weir.New(p.algorithm, p.limit, m.store, &weir.Options{
		Clock: func() time.Time { return time.UnixMicro(m.now) },
	})
	m.before = liveHeap()
	return m, err
}

func (m *keysMeter) close() error { return m.store.Close() }

// measure brings the store to n keys, and takes their size and the time of a decision.
func (m *keysMeter) measure(ctx context.Context, n int64) (KeysPoint, error) {
	p := KeysPoint{Keys: n}
	for ; m.keys < n; m.keys++ {
		if err := m.take(ctx, memoryKey(int(m.keys))); err != nil {
			return p, err
		}
	}
	if n >= heapKeys {
		p.BytesPerKey = max(0, float64(liveHeap()-m.before)/float64(n))
	} else {
		var sum int64
		for k := range n {
			size, err := sizeOf(ctx, m.store, m.limiter, memoryKey(int(k)))
			if err != nil {
				return p, err
			}
			sum += size
		}
		p.BytesPerKey = float64(sum) / float64(n)
	}
	var rounds []float64
	names := make([]string, keysEach)
	for range keysRounds {
		for i := range names {
			names[i] = memoryKey(int(m.turn * stride(n) % n))
			m.turn++
		}
		m.now += 2 * m.window // whatever the order of the last level was
		start, first := time.Now(), m.now
		for i, name := range names {
			m.now = first + share(2*m.window, int64(i), n)
			if err := m.take(ctx, name); err != nil {
				return p, err
			}
		}
		rounds = append(rounds, float64(time.Since(start).Nanoseconds())/keysEach)
	}
	p.DecisionNS = median(rounds)
	return p, nil
}

func (m *keysMeter) take(ctx context.Context, key string) error {
	d, err := m.limiter.Take(ctx, key, 1)
	if err == nil && !d.Allowed {
		err = &notAdmittedError{admitted: m.asked, of: m.asked + 1}
	}
	m.asked++
	return err
}

// stride is by how many keys one goes from one request to the next: far, and in n requests to each key
// once.
func stride(n int64) int64 {
	step := int64(float64(n)*0.618) | 1
	for gcd(step, n) != 1 {
		step += 2
	}
	return step
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
