package memcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	gomemcache "github.com/bradfitz/gomemcache/memcache"

	"github.com/weirlimits/weir/store"
)

// call is what an operation does with a client.
type call[T any] func(client *gomemcache.Client) (T, error)

// do makes a call and wraps its error with the operation.
func do[T any](ctx context.Context, c *core, op string, f call[T]) (T, error) {
	var v T
	err := ctx.Err()
	switch {
	case err != nil:
	case c.closed.Load():
		err = store.ErrClosed
	case c.pool != nil:
		err = c.pool.run(ctx, func(client *gomemcache.Client) (err error) {
			v, err = f(client)
			return err
		})
	case ctx.Done() == nil:
		v, err = f(c.client)
	default:
		v, err = beside(ctx, c.client, f)
	}
	if err != nil {
		var none T
		return none, fmt.Errorf("memcache: %s: %w", op, explain(err))
	}
	return v, nil
}

// beside makes a call in a goroutine of its own, for a client whose connections are
// not ours to close: it may outlive the caller, until the client's timeout, so f must
// share no memory with the caller.
func beside[T any](ctx context.Context, client *gomemcache.Client, f call[T]) (T, error) {
	type result struct {
		value T
		err   error
	}
	ended := make(chan result, 1)
	go func() {
		v, err := f(client)
		ended <- result{v, err}
	}()
	select {
	case r := <-ended:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-ended: // both at once: what is known counts
		return r.value, r.err
	default:
		var none T
		return none, ctx.Err()
	}
}

func lostConnection(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	var op *net.OpError
	return errors.As(err, &op) && op.Op != "dial" && !op.Timeout()
}

func isMiss(err error) bool { return errors.Is(err, gomemcache.ErrCacheMiss) }

// explain adds the meaning of errors for which the client has only a text, which
// quotes the server's reply.
func explain(err error) error {
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrGarbled) {
		return err // and quotes what the server keeps, which may be anything
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "client error: cannot increment or decrement non-numeric value"):
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	case strings.Contains(text, "SERVER_ERROR out of memory"):
		return fmt.Errorf("%w: %w: %w", store.ErrFull, gomemcache.ErrServerError, err)
	case strings.Contains(text, "SERVER_ERROR"), strings.Contains(text, "ERROR Too many open connections"):
		return fmt.Errorf("%w: %w", gomemcache.ErrServerError, err)
	case errors.Is(err, strconv.ErrSyntax), errors.Is(err, strconv.ErrRange),
		strings.HasPrefix(text, "memcache: unexpected"), strings.HasPrefix(text, "memcache: corrupt"):
		return fmt.Errorf("%w: %w", store.ErrGarbled, err)
	}
	return err
}
