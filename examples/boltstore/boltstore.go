// Package boltstore keeps limiter state in a bbolt file: limits that outlive the process,
// with no server, for one process at a time. It has a counter and compare-and-swap.
//
// Each write waits for the disk, unless bbolt's options say NoSync. The end of the process
// loses nothing either way; with NoSync the end of the machine may spoil the file.
package boltstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/weirlimits/weir/store"
)

// Store is a store in one bbolt file. Create one with [Open].
type Store struct {
	db     *bbolt.DB
	opened time.Time
	swept  []byte // where the sweep goes on; only the one writer touches it
}

var (
	_ store.Counter = (*Store)(nil)
	_ store.Swapper = (*Store)(nil)
)

// Open opens the file at path, or creates it. While another process has it open it waits,
// at most for the Timeout in opts, which are bbolt's; nil means bbolt's defaults.
func Open(path string, opts *bbolt.Options) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, opts)
	if err != nil {
		return nil, fmt.Errorf("boltstore: open: %w", err)
	}
	if err := db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte(bucket))
		return err
	}); err != nil {
		return nil, errors.Join(fmt.Errorf("boltstore: open: %w", err), db.Close())
	}
	return &Store{db: db, opened: time.Now()}, nil
}

// Traits implements [store.Store].
func (s *Store) Traits() store.Traits {
	return store.Traits{
		Name:         "bbolt",
		Capabilities: store.CapCounter | store.CapSwap,
		Clock:        store.CallerClock,
		TTLGrain:     time.Nanosecond,
		MaxTTL:       maxTTL,
		MaxValue:     bbolt.MaxValueSize - headerSize,
		MaxCounter:   math.MaxInt64,
	}
}

// Add implements [store.Counter].
func (s *Store) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (n int64, err error) {
	if err := store.CheckTTL(ttl, maxTTL); err != nil {
		return 0, err
	}
	err = s.transact(ctx, s.db.Update, func(t table) error {
		r := t.get(key)
		if r == nil && delta <= 0 {
			return errUnchanged
		}
		if r == nil {
			r = newRecord(t.now+int64(ttl), []byte("0"))
		}
		if n, err = r.count(); err != nil {
			return err
		}
		if delta > math.MaxInt64-n {
			return store.ErrOverflow
		}
		n = max(n+delta, 0)
		return s.put(t, key, newRecord(r.expires(), strconv.AppendInt(nil, n, 10)))
	})
	return n, err
}

// Read implements [store.Counter].
func (s *Store) Read(ctx context.Context, keys ...string) ([]int64, error) {
	counts := make([]int64, len(keys))
	err := s.transact(ctx, s.db.View, func(t table) (err error) {
		for i, key := range keys {
			if r := t.get(key); r != nil && err == nil {
				counts[i], err = r.count()
			}
		}
		return err
	})
	return counts, err
}

// Load implements [store.Swapper]. The version is the whole record.
func (s *Store) Load(ctx context.Context, key string) (value []byte, version store.Version, err error) {
	err = s.transact(ctx, s.db.View, func(t table) error {
		if r := t.get(key); r != nil {
			value, version = bytes.Clone(r[headerSize:]), store.Version(r)
		}
		return nil
	})
	return value, version, err
}

// Swap implements [store.Swapper].
func (s *Store) Swap(ctx context.Context, key string, version store.Version, value []byte, ttl time.Duration) (swapped bool, err error) {
	if err := store.CheckTTL(ttl, maxTTL); err != nil {
		return false, err
	}
	err = s.transact(ctx, s.db.Update, func(t table) error {
		if swapped = store.Version(t.get(key)) == version; !swapped {
			return errUnchanged
		}
		return s.put(t, key, newRecord(t.now+int64(ttl), value))
	})
	return swapped && err == nil, err
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	return s.transact(ctx, s.db.Update, func(t table) (err error) {
		for _, key := range keys {
			err = errors.Join(err, t.Delete(name(key)))
		}
		return err
	})
}

// Close implements [store.Store]. It waits for calls under way; the file stays.
func (s *Store) Close() error { return s.db.Close() }

const (
	bucket     = "weir"
	maxTTL     = 100 * 365 * 24 * time.Hour // Unix nanoseconds end in 2262
	headerSize = 8
)

// errUnchanged ends a transaction that has nothing to write, and so nothing to wait for.
var errUnchanged = errors.New("unchanged")

// table is the records as one transaction sees them, at one instant.
type table struct {
	*bbolt.Bucket
	now int64 // Unix nanoseconds
}

// transact runs do in one transaction; run is the database's View or Update.
func (s *Store) transact(ctx context.Context, run func(func(*bbolt.Tx) error) error, do func(table) error) error {
	err := run(func(tx *bbolt.Tx) error {
		if err := ctx.Err(); err != nil {
			return err // done already, or given up while others wrote
		}
		now := s.opened.Add(time.Since(s.opened)) // setting the clock meanwhile ends no TTL
		return do(table{tx.Bucket([]byte(bucket)), now.UnixNano()})
	})
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return store.ErrClosed
	case err != nil:
		return fmt.Errorf("boltstore: %w", err)
	}
	return nil
}

// name is where a key lies: hashed, as bbolt takes neither an empty name nor a very long one.
func name(key string) []byte {
	hash := sha256.Sum256([]byte(key))
	return hash[:]
}

// get returns the record of a key, nil if there is none or it has expired. It is valid
// until the transaction ends.
func (t table) get(key string) record {
	if r := record(t.Get(name(key))); r.expires() > t.now {
		return r
	}
	return nil
}

// put writes a record, and sweeps a little since it may have added one.
func (s *Store) put(t table, key string, r record) error {
	if err := t.Put(name(key), r); err != nil {
		return err
	}
	return s.sweep(t)
}

// sweep goes round the file, eight records for each one written, and frees what has expired.
func (s *Store) sweep(t table) (err error) {
	var expired [][]byte
	cursor := t.Cursor()
	at, raw := cursor.Seek(s.swept)
	for i := 0; i < 8 && at != nil; i++ {
		if record(raw).expires() <= t.now {
			expired = append(expired, at)
		}
		at, raw = cursor.Next()
	}
	s.swept = bytes.Clone(at) // nil at the end: from the start again
	for _, name := range expired {
		err = errors.Join(err, t.Delete(name))
	}
	return err
}

// record is eight bytes that tell when it expires, in Unix nanoseconds, and then the value.
type record []byte

func newRecord(expires int64, value []byte) record {
	return append(binary.BigEndian.AppendUint64(nil, uint64(expires)), value...)
}

func (r record) expires() int64 {
	if len(r) < headerSize {
		return 0
	}
	return int64(binary.BigEndian.Uint64(r))
}

// count reads the value as a counter's: decimal digits.
func (r record) count() (int64, error) {
	n, err := strconv.ParseUint(string(r[headerSize:]), 10, 63)
	if err != nil {
		return 0, store.ErrCorrupt
	}
	return int64(n), nil
}
