package boltstore

import (
	"context"
	"strconv"
	"time"

	"github.com/weirlimits/weir/store"
)

// firstAttempt is the store with the counter that comes to mind first.
type firstAttempt struct{ *Store }

func (s firstAttempt) Add(ctx context.Context, key string, delta int64, ttl time.Duration) (n int64, err error) {
	err = s.transact(ctx, s.db.Update, func(t table) error {
		if r := t.get(key); r != nil {
			if n, err = r.count(); err != nil {
				return err
			}
		}
		n += delta
		return s.put(t, key, newRecord(t.now+int64(ttl), strconv.AppendInt(nil, n, 10)))
	})
	return n, err
}

// hiding is a wrapper that has lost what the store within can do.
type hiding struct{ store.Store }
