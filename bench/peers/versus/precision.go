package versus

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/bench/oracle"
	"github.com/weirlimits/weir/bench/peers"
)

// attempts is how often a trial in real time is made until no call takes a tenth of the window.
const attempts = 3

func (r *run) precision(ctx context.Context, c *contender) error {
	p := &Precision{Limit: bench.NewLimitInfo(preciseLimit), Simulated: c.clocked}
	if c.waits {
		p.NA = "it makes callers wait and denies nobody"
		c.Precision = p
		return nil
	}
	if err := r.servers.empty(ctx); err != nil {
		return err
	}
	if c.clocked {
		// Each trial has a limiter and a time of its own.
		for i := range r.settings.Trials + 3 {
			err := r.simulate(ctx, c, p, i)
			if err != nil {
				return err
			}
		}
		c.Precision = p
		return nil
	}
	limiter, err := c.open(preciseLimit, nil)
	if err != nil {
		return err
	}
	trials := make([]*trial, r.settings.Trials+3)
	group, groupCtx := errgroup.WithContext(ctx)
	for i := range trials {
		group.Go(func() (err error) {
			for n := range attempts {
				t := &trial{limiter: limiter, time: realTime{}, key: fmt.Sprintf("trial-%d-%d", i, n)}
				if err = t.play(groupCtx, i, r.settings); err != nil {
					return err
				}
				if trials[i] == nil || t.longest() < trials[i].longest() {
					trials[i] = t
				}
				if t.longest() < preciseLimit.Window.Microseconds()/10 {
					break
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, t := range trials {
		t.judge(p, i, r.settings.Trials)
	}
	c.Precision = p
	return limiter.Close()
}

func (r *run) simulate(ctx context.Context, c *contender, p *Precision, i int) error {
	time := newSimulatedTime()
	limiter, err := c.open(preciseLimit, time.clock)
	if err != nil {
		return err
	}
	t := &trial{limiter: limiter, time: time, key: fmt.Sprintf("trial-%d", i)}
	if err := t.play(ctx, i, r.settings); err != nil {
		return err
	}
	t.judge(p, i, r.settings.Trials)
	return limiter.Close()
}

// trial is the traffic of one key.
type trial struct {
	limiter peers.Peer
	time    timeline
	key     string
	calls   []call
}

// call is one request: when it was sent, when it was answered.
type call struct {
	sent, answered int64
	allowed        bool
}

func (t *trial) take(ctx context.Context) (allowed bool, err error) {
	c := call{sent: t.time.now()}
	a, err := t.limiter.Take(ctx, t.key, 1)
	c.answered, c.allowed = t.time.now(), a.Allowed
	t.calls = append(t.calls, c)
	return a.Allowed, err
}

// burst takes until it is denied.
func (t *trial) burst(ctx context.Context) error {
	for range 3 * preciseLimit.Count {
		allowed, err := t.take(ctx)
		if err != nil || !allowed {
			return err
		}
	}
	return nil
}

func (t *trial) longest() (us int64) {
	for _, c := range t.calls {
		us = max(us, c.answered-c.sent)
	}
	return us
}

// play plays trial i. The first ones burst at as many phases of windows that are aligned somewhere, and
// then take whatever comes free; the next one anchors a window first. The last two ask steadily.
func (t *trial) play(ctx context.Context, i int, s Settings) error {
	window := preciseLimit.Window.Microseconds()
	start := (t.time.now()/window + 1) * window
	switch i - s.Trials {
	case 1:
		return t.steady(ctx, start, window*10/(9*preciseLimit.Count))
	case 2:
		return t.steady(ctx, start, window/(2*preciseLimit.Count))
	case 0:
		if err := t.time.until(ctx, start); err != nil {
			return err
		}
		if _, err := t.take(ctx); err != nil {
			return err
		}
		start += window * 9 / 10
	default:
		start += window * int64(i) / int64(s.Trials)
	}
	for at := start; at < start+2*window; at += window / int64(s.Ticks) {
		if err := t.time.until(ctx, at); err != nil {
			return err
		}
		if err := t.burst(ctx); err != nil {
			return err
		}
	}
	return nil
}

// steadyWindows is for how many windows requests come steadily.
const steadyWindows = 4

func (t *trial) steady(ctx context.Context, start, gap int64) error {
	for at := start; at < start+steadyWindows*preciseLimit.Window.Microseconds(); at += gap {
		if err := t.time.until(ctx, at); err != nil {
			return err
		}
		if _, err := t.take(ctx); err != nil {
			return err
		}
	}
	return nil
}

// judge counts what is certain. The limiter decided somewhere between sent and answered: two of its admissions
// were in one window for sure if they were sent within the window less one call, and a place was
// free for sure if it was so in the window and one call.
func (t *trial) judge(p *Precision, i, phases int) {
	longest := t.longest()
	p.LongestCallUS = max(p.LongestCallUS, longest)
	window := preciseLimit.Window.Microseconds()
	r := t.report(window - longest)
	p.MaxInWindow = max(p.MaxInWindow, r.MaxInWindow)
	r = t.report(window + longest)
	d := Denials{Requests: r.Events, Denied: r.Denied, FalseDenied: r.FalseDenied}
	switch i - phases {
	case 1:
		p.Steady = d
	case 2:
		p.Pushed = d
	}
}

func (t *trial) report(window int64) oracle.Report {
	j := oracle.NewJudge(preciseLimit.Count, max(window, 1))
	for _, c := range t.calls {
		j.Observe(t.key, oracle.Observation{Time: c.sent, Cost: 1, Allowed: c.allowed, Remaining: -1})
	}
	return j.Report()
}
