package bench

import (
	"context"
	"errors"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/bench/trace"
)

// observation is a decision as the judge takes it.
func observation(e trace.Event, d weir.Decision) oracle.Observation {
	o := oracle.Observation{Time: e.Time, Cost: e.Cost, Allowed: d.Allowed, RetryAfter: oracle.Never, Remaining: d.Remaining}
	if d.RetryAfter != weir.Never {
		o.RetryAfter = d.RetryAfter.Microseconds()
	}
	return o
}

// measurePrecision decides events and judges the decisions.
func measurePrecision(ctx context.Context, p pair, events []trace.Event) (Precision, error) {
	judge := oracle.NewJudge(p.limit.Count, p.limit.Window.Microseconds())
	n, err := decide(ctx, p, events, func(e trace.Event, d weir.Decision) error {
		judge.Observe(e.Key, observation(e, d))
		return nil
	})
	return newPrecision(judge.Report(), p.limit, n, err)
}

// newPrecision makes the figures of what was judged. A cost that the limiter cannot take is no error of
// the run: there are no figures then, and they say why.
func newPrecision(r oracle.Report, limit weir.Limit, n calls, err error) (Precision, error) {
	var field *weir.FieldError
	if errors.As(err, &field) && field.Field == "cost" {
		return Precision{NA: "a cost of " + field.Value + ": want " + field.Want}, nil
	}
	if err != nil {
		return Precision{}, err
	}
	p := Precision{
		Events: r.Events, Keys: r.Keys, Allowed: r.Allowed, Denied: r.Denied,
		MaxInWindow:  r.MaxInWindow,
		MaxOverLimit: float64(r.MaxInWindow) / float64(limit.Count),
		OverAdmitted: r.OverAdmitted, FalseDenied: r.FalseDenied, MaxDeficit: r.MaxDeficit,
		Wrong:            r.OverAdmitted + r.FalseDenied,
		MeanError:        r.CountError.Mean / float64(limit.Count),
		ExactAdmitted:    r.ExactAdmitted,
		RetryErrorMeanUS: r.RetryError.Mean, RetryErrorMaxUS: r.RetryError.Max,
		ServerCalls: n.server, DeclaredCalls: n.declared,
	}
	if r.Events > 0 {
		p.WrongShare = float64(p.Wrong) / float64(r.Events)
	}
	if r.ExactAdmitted > 0 {
		p.AdmittedRatio = float64(r.Allowed) / float64(r.ExactAdmitted)
	}
	return p, nil
}
