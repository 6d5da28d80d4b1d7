package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/weirlimits/weir/store"
)

// once is a command that the client sends at most once, whatever its MaxRetries: the
// library repeats every command after a lost reply, writes included, unless NoRetry.
type once struct{ *goredis.Cmd }

func (once) NoRetry() bool { return true }

func command(ctx context.Context, args ...any) once { return once{goredis.NewCmd(ctx, args...)} }

// answer is what came back for one command; a missing value is nil and no error.
type answer struct {
	value any
	err   error
}

// maxPipeline bounds how many commands wait for their answers on one connection.
const maxPipeline = 1000

// ask sends the commands, in one round trip for each maxPipeline of them.
func (s *Store) ask(ctx context.Context, cmds []once) []answer {
	answers := make([]answer, len(cmds))
	for from := 0; from < len(cmds); from += maxPipeline {
		part := cmds[from:min(from+maxPipeline, len(cmds))]
		sent := make([]goredis.Cmder, len(part))
		for i, cmd := range part {
			sent[i] = cmd
		}
		err := s.exchange(ctx, sent)
		for i, cmd := range part {
			if err != nil {
				answers[from+i] = answer{err: err}
			} else {
				answers[from+i] = s.answer(ctx, cmd)
			}
		}
	}
	return answers
}

// one sends a single command.
func (s *Store) one(ctx context.Context, args ...any) (any, error) {
	a := s.ask(ctx, []once{command(ctx, args...)})[0]
	return a.value, a.err
}

// ready returns why nothing may be sent.
func (s *Store) ready(ctx context.Context) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	return ctx.Err()
}

// exchange sends the commands and waits until each has its answer or error. With an
// error of its own the commands must not be looked at: nothing was sent, or nobody
// waits for it any more.
func (s *Store) exchange(ctx context.Context, cmds []goredis.Cmder) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	if !s.deaf || ctx.Done() == nil {
		s.transmit(ctx, cmds)
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.transmit(ctx, cmds)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// transmit leaves what came of each command in the command.
func (s *Store) transmit(ctx context.Context, cmds []goredis.Cmder) {
	if len(cmds) == 1 {
		_ = s.client.Process(ctx, cmds[0])
		return
	}
	pipe := s.client.Pipeline()
	for _, cmd := range cmds {
		_ = pipe.Process(ctx, cmd)
	}
	_, _ = pipe.Exec(ctx)
}

func (s *Store) answer(ctx context.Context, cmd once) answer {
	value, err := cmd.Result()
	switch {
	case err == nil:
		return answer{value: value}
	case errors.Is(err, goredis.Nil):
		return answer{}
	}
	return answer{err: s.failure(ctx, err)}
}

// failure says what a command's error means.
func (s *Store) failure(ctx context.Context, err error) error {
	var fromServer goredis.Error
	switch {
	case errors.Is(err, goredis.Nil):
		return garbled(nil)
	case errors.As(err, &fromServer):
		if strings.Contains(err.Error(), "WRONGTYPE ") { // of a script, Redis 6 puts more before it
			err = fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		} else if strings.Contains(err.Error(), "OOM ") {
			err = fmt.Errorf("%w: %w", store.ErrFull, err)
		}
		return err
	case errors.Is(err, goredis.ErrClosed) && s.closed.Load():
		return store.ErrClosed
	}
	if over := ended(ctx); over != nil && !errors.Is(err, over) {
		err = fmt.Errorf("%w: %w", over, err)
	}
	return err
}

// ended returns the context's error. The connection's own timer, set to the same
// deadline, may fire a moment before the context's.
func ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// garbled says that a reply has not the shape of any that was asked for.
func garbled(value any) error {
	return fmt.Errorf("%w: a reply of type %T", store.ErrGarbled, value)
}

func asInt(value any, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	n, ok := value.(int64)
	if !ok {
		return 0, garbled(value)
	}
	return n, nil
}
