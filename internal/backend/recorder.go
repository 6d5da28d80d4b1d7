package backend

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memcache"
)

// keyRecord remembers which keys were written: memcached lists none.
type keyRecord struct {
	prefix string
	store  *memcache.Store // deletes them
	keys   sync.Map        // string to nothing
	// settled is when, in Unix nanoseconds, the last call that its caller gave up will
	// have ended: such a call may still write.
	settled atomic.Int64
	beside  atomic.Int64 // keys that one get asked for, beyond the first
}

func newKeyRecord(prefix string, st *memcache.Store) *keyRecord {
	return &keyRecord{prefix: prefix, store: st}
}

// wrote remembers a key before it is written.
func (r *keyRecord) wrote(key string) {
	if !strings.HasPrefix(key, r.prefix) {
		return
	}
	if _, known := r.keys.Load(key); !known {
		r.keys.Store(strings.Clone(key), nil)
	}
}

// ended notes that a call is over for its caller, though perhaps not for the server.
func (r *keyRecord) ended(ctx context.Context) {
	if ctx.Err() == nil {
		return
	}
	end := time.Now().Add(2 * memcache.DefaultTimeout).UnixNano() // a dial and a wait
	for {
		old := r.settled.Load()
		if old >= end || r.settled.CompareAndSwap(old, end) {
			return
		}
	}
}

// How a great many keys are deleted: each is a round trip.
const (
	deleters   = 8
	deleteEach = 256
)

func (r *keyRecord) delete(ctx context.Context) (removed int, err error) {
	if err := r.settle(ctx); err != nil {
		return 0, err
	}
	var gone atomic.Int64
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(deleters)
	var keys []string
	flush := func() {
		part := keys
		keys = nil
		work.Go(func() error {
			if err := r.store.Delete(workCtx, part...); err != nil {
				return err
			}
			for _, key := range part {
				r.keys.Delete(key)
			}
			gone.Add(int64(len(part)))
			return nil
		})
	}
	r.keys.Range(func(key, _ any) bool {
		if keys = append(keys, key.(string)); len(keys) == deleteEach {
			flush()
		}
		return workCtx.Err() == nil
	})
	if len(keys) > 0 {
		flush()
	}
	err = work.Wait()
	return int(gone.Load()), err
}

// settle waits until no call that was given up can still write.
func (r *keyRecord) settle(ctx context.Context) error {
	wait := time.Until(time.Unix(0, r.settled.Load()))
	if wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recorder is a memcached store that keeps a record of its keys. It does nothing
// else, but a wrapper hides what it does not implement, so it implements all.
type recorder struct {
	inner interface {
		store.Counter
		store.Footprint
	}
	record *keyRecord
}

// swapRecorder is a recorder with compare-and-swap.
type swapRecorder struct {
	recorder
	swapper store.Swapper
}

var (
	_ store.Counter   = (*recorder)(nil)
	_ store.Footprint = (*recorder)(nil)
	_ store.Counter   = (*swapRecorder)(nil)
	_ store.Footprint = (*swapRecorder)(nil)
	_ store.Swapper   = (*swapRecorder)(nil)
)

func (r *recorder) Traits() store.Traits { return r.inner.Traits() }

func (r *recorder) Close() error { return r.inner.Close() }

func (r *recorder) Delete(ctx context.Context, keys ...string) error {
	return r.inner.Delete(ctx, keys...)
}

func (r *recorder) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
	r.record.wrote(key)
	defer r.record.ended(ctx)
	return r.inner.Add(ctx, key, delta, ttl)
}

func (r *recorder) Read(ctx context.Context, keys ...string) ([]int64, error) {
	if len(keys) > 1 {
		r.record.beside.Add(int64(len(keys) - 1))
	}
	return r.inner.Read(ctx, keys...)
}

func (r *recorder) Size(ctx context.Context, key string) (int64, error) {
	return r.inner.Size(ctx, key)
}

func (s *swapRecorder) Traits() store.Traits { return s.swapper.Traits() }

func (s *swapRecorder) Load(ctx context.Context, key string) ([]byte, store.Version, error) {
	return s.swapper.Load(ctx, key)
}

func (s *swapRecorder) Swap(ctx context.Context, key string, version store.Version, value []byte, ttl time.Duration) (bool, error) {
	s.record.wrote(key)
	defer s.record.ended(ctx)
	return s.swapper.Swap(ctx, key, version, value, ttl)
}
