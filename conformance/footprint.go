package conformance

import (
	"bytes"
	"context"
	"time"

	"github.com/weirlimits/weir/store"
)

var footprintChecks = []check{
	{
		name: "footprint/missing", rule: "a missing key occupies nothing, and one that is there something",
		needs: store.CapFootprint, run: footprintMissing,
	},
	{
		name: "footprint/grows", rule: "a key occupies at least its value, and more where the value is larger",
		needs: store.CapFootprint | store.CapSwap, run: footprintGrows,
	},
}

func footprintMissing(ctx context.Context, p *probe) error {
	st, key := p.st.(store.Footprint), p.key("k")
	h, err := p.holder()
	if err != nil {
		return err
	}
	for _, there := range []bool{false, true, false} {
		if there {
			err = h.put(ctx, key, 1, time.Minute)
		} else {
			err = st.Delete(ctx, key)
		}
		if err != nil {
			return err
		}
		n, err := st.Size(ctx, key)
		if err != nil {
			return err
		}
		if (n > 0) != there || n < 0 {
			return failf("Size returns %d where the key's being there is %t", n, there)
		}
	}
	return nil
}

func footprintGrows(ctx context.Context, p *probe) error {
	st, swapper := p.st.(store.Footprint), p.st.(store.Swapper)
	last := int64(0)
	for _, length := range []int{10, 1_000, 100_000} {
		if length > p.st.Traits().MaxValue {
			break
		}
		key := p.key("grows")
		_, version, err := swapper.Load(ctx, key)
		if err != nil {
			return err
		}
		if _, err := swapper.Swap(ctx, key, version, bytes.Repeat([]byte("v"), length), time.Minute); err != nil {
			return err
		}
		n, err := st.Size(ctx, key)
		if err != nil {
			return err
		}
		if n < int64(length) || n <= last {
			return failf("a value of %d bytes occupies %d, and a smaller one occupied %d", length, n, last)
		}
		last = n
	}
	return nil
}
