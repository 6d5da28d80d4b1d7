package conformance

import (
	"context"
	"strings"
	"time"
)

// oddKeys are keys of every kind that a careless store mistakes for another. All but
// the empty one begin with the check's prefix.
func (p *probe) oddKeys(name string) []string {
	base := p.key(name)
	long := strings.Repeat("0123456789", 1000)
	keys := []string{
		base,
		base + " ", base + "  ", base + "\t", base + "\r\n", base + "\n", base + "\r\nset x 0 0 1\r\n1",
		base + "\x00", base + "\x00\x00", base + "\xff\xfe\x80", base + "\u00e9", base + "e\u0301",
		base + "{", base + "}", base + "{}", base + "{a}", base + "{a}b", base + "{{a}}", base + "{a}{b}",
		base + "*", base + "?", base + "%s", base + `\`, base + `"`, base + "'", base + ":", base + "/",
		strings.ToUpper(base), base + "#", base + "~#",
		base + long, base + long[:9999] + "x", base + "x" + long[1:], // alike but for one byte
		base + strings.Repeat("k", 250-min(len(base), 249)), base + strings.Repeat("k", 251-min(len(base), 249)),
	}
	if !p.suite.cfg.Guest {
		keys = append(keys, "")
	}
	p.remember(keys...)
	return keys
}

// distinct writes a number of its own under each odd key, and then reads all.
func (p *probe) distinct(ctx context.Context, name string, h holder) error {
	keys := p.oddKeys(name)
	if err := p.st.Delete(ctx, keys...); err != nil {
		return err
	}
	for i, key := range keys {
		if err := h.put(ctx, key, int64(i+1), time.Minute); err != nil {
			return failf("writing the key %s: %v", quoted(key), err)
		}
	}
	for i, key := range keys {
		switch n, err := h.get(ctx, key); {
		case err != nil:
			return failf("reading the key %s: %v", quoted(key), err)
		case n != int64(i+1):
			return failf("the key %s holds %d: want %d, and so it meets another", quoted(key), n, i+1)
		}
	}
	if err := p.st.Delete(ctx, keys[0]); err != nil {
		return err
	}
	for i, key := range keys {
		want := int64(i + 1)
		if i == 0 {
			want = 0
		}
		if n, err := h.get(ctx, key); err != nil || n != want {
			return failf("after Delete of %s the key %s holds %d, %v: want %d", quoted(keys[0]), quoted(key), n, err, want)
		}
	}
	return nil
}
