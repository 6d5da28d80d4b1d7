package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// reachTimeout bounds one dial, and one question and its answer.
const reachTimeout = 3 * time.Second

// unreachableError is an [ErrUnreachable] with the store, the address and the reason.
type unreachableError struct {
	name, addr string
	cause      error
}

func (e *unreachableError) Error() string {
	reason := e.cause
	var op *net.OpError
	if errors.As(reason, &op) {
		reason = op.Err // the rest of it is the address again
	}
	return fmt.Sprintf("backend: %s: no server answers at %s: %v", e.name, e.addr, reason)
}

func (e *unreachableError) Is(target error) bool { return target == ErrUnreachable }
func (e *unreachableError) Unwrap() error        { return e.cause }

// unreachable says that nothing answers at addr, unless it is the caller who left.
func (b *Backend) unreachable(ctx context.Context, addr string, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return &unreachableError{name: b.Name, addr: addr, cause: cause}
}

// dial makes a connection on which everything ends in time.
func dial(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: reachTimeout}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(reachTimeout)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
