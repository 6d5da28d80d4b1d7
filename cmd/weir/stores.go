package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/backend"
)

var defaultStores = []string{"memory:", "redis:private", "memcache:private"}

func (c *common) parseStores() error {
	c.stores = c.given.stores
	if len(c.stores) == 0 {
		c.stores = defaultStores
	}
	for i, url := range c.stores {
		if err := backend.Check(url); err != nil {
			return err
		}
		if slices.Contains(c.stores[:i], url) {
			return &weir.FieldError{Field: "--store", Value: "the same URL twice", Want: "each store once"}
		}
	}
	return nil
}

// backends are opened stores, in the order of --store.
type backends = []*backend.Backend

// withBackends opens the stores, does the verb's work, and closes them.
func (c *common) withBackends(ctx context.Context, opts *backend.Options, do func(backends) error) error {
	open, closeAll, err := c.openBackends(ctx, opts)
	if err != nil {
		return err
	}
	err = do(open)
	if closeErr := closeAll(); err == nil && closeErr != nil {
		err = unreachable(closeErr)
	}
	return err
}

// openBackends opens the stores in their order and tells on standard error what is to be known of
// them. closeAll removes what the run wrote, and ends what it started, whatever became of ctx.
func (c *common) openBackends(ctx context.Context, opts *backend.Options) (open backends, closeAll func() error, err error) {
	closeAll = func() error {
		var errs []error
		for _, b := range slices.Backward(open) {
			if err := b.Close(); err != nil {
				errs = append(errs, fmt.Errorf("weir: closing %s: %w", b.Name, err))
			}
		}
		return errors.Join(errs...)
	}
	for _, url := range c.stores {
		b, err := backend.Open(ctx, url, opts)
		if err != nil {
			// The URL was checked, so what is wrong is the server: it is not there, or refuses us.
			return nil, nil, errors.Join(unreachable(err), closeAll())
		}
		open = append(open, b)
		if slices.ContainsFunc(open[:len(open)-1], func(o *backend.Backend) bool { return o.Name == b.Name }) {
			return nil, nil, errors.Join(&weir.FieldError{Field: "--store", Value: b.Name + " twice", Want: "each store once"}, closeAll())
		}
		for _, note := range b.Notes {
			c.note("%s: %s", b.Name, note)
		}
	}
	return open, closeAll, nil
}
