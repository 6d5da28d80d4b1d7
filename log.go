package weir

import (
	"context"
	"errors"
	"log/slog"
)

// LogOptions are the options of [NewLog].
type LogOptions struct {
	// Key says how a key appears in the log, such as hashed. Without it keys are left
	// out: they are often personal.
	Key func(key string) string
}

// NewLog returns an observer that writes one record for each decision: admitted ones at
// debug level, denials at info, degraded ones and errors at warn. A caller that left is
// written at debug level. A nil logger means [slog.Default] and a nil opts the defaults.
func NewLog(l *slog.Logger, opts *LogOptions) Observer {
	if l == nil {
		l = slog.Default()
	}
	if opts == nil {
		opts = &LogOptions{}
	}
	return &logObserver{l, opts.Key}
}

type logObserver struct {
	logger *slog.Logger
	key    func(string) string
}

func (o *logObserver) Observe(ctx context.Context, e Event) {
	level, message, cause := slog.LevelDebug, "admitted", e.Decision.Cause()
	left := errors.Is(e.Err, context.Canceled)
	switch {
	case left:
		message, cause = "caller left", e.Err
	case e.Err != nil:
		level, message, cause = slog.LevelWarn, "no decision", e.Err
	case e.Decision.Degraded && e.Decision.Allowed:
		level, message = slog.LevelWarn, "admitted, degraded"
	case e.Decision.Degraded:
		level, message = slog.LevelWarn, "denied, degraded"
	case e.Cost < 0:
		message = "gave back"
	case !e.Decision.Allowed:
		level, message = slog.LevelInfo, "denied"
	}
	if !o.logger.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs, slog.String("limiter", e.Limiter), slog.Int64("cost", e.Cost), slog.Duration("elapsed", e.Elapsed))
	if o.key != nil {
		attrs = append(attrs, slog.String("key", o.key(e.Key)))
	}
	if e.Err == nil {
		attrs = append(attrs, slog.Int64("remaining", e.Decision.Remaining), slog.Duration("retry_after", e.Decision.RetryAfter))
	}
	if cause != nil {
		attrs = append(attrs, slog.String("error", cause.Error()))
	}
	o.logger.LogAttrs(ctx, level, "weir: "+message, attrs...)
}
