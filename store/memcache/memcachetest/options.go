package memcachetest

import (
	"fmt"
	"time"
)

const (
	defaultItemSize = 1 << 20
	smallestItem    = 1 << 10
	largestItem     = 1 << 30
	defaultMaxBytes = 64 << 20
)

// Options are the settings of a server. The zero value is memcached's own defaults.
type Options struct {
	// Now is the server's clock; nil means time.Now. It must be safe for concurrent use. See Clock for one that can be moved.
	Now func() time.Time

	// MaxItemSize is the largest item in bytes, 1024 to 2^30; zero means 2^20 (memcached -I). It counts what memcached counts:
	// the value, its line end, the key and 57 to 61 bytes of header, so the largest value is a little smaller.
	MaxItemSize int

	// MaxBytes bounds the memory of all items, counted in the same way; zero means 64 MiB (memcached -m), else it is at
	// least MaxItemSize. Beyond it the least recently used items are evicted.
	MaxBytes int

	// MaxItems bounds the number of items in the same way; zero means no such bound.
	MaxItems int
}

func (o *Options) withDefaults() (Options, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.MaxItemSize == 0 {
		opts.MaxItemSize = defaultItemSize
	}
	if opts.MaxItemSize < smallestItem || opts.MaxItemSize > largestItem {
		return opts, fmt.Errorf("memcachetest: MaxItemSize is %d, want %d to %d bytes, or 0 for %d",
			opts.MaxItemSize, smallestItem, largestItem, defaultItemSize)
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = max(defaultMaxBytes, opts.MaxItemSize)
	}
	if opts.MaxBytes < opts.MaxItemSize {
		return opts, fmt.Errorf("memcachetest: MaxBytes is %d, want at least MaxItemSize (%d), or 0 for %d",
			opts.MaxBytes, opts.MaxItemSize, defaultMaxBytes)
	}
	if opts.MaxItems < 0 {
		return opts, fmt.Errorf("memcachetest: MaxItems is %d, want at least 1, or 0 for no bound", opts.MaxItems)
	}
	return opts, nil
}
