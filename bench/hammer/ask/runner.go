package ask

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// runner carries out the experiments and keeps what was answered.
type runner struct {
	*Config
	crowd  *crowd
	base   time.Time // now, when the run began
	offset int64     // base in microseconds since the origin, which is a multiple of the window since the epoch
	began  int64
	sent   atomic.Int64
	field  atomic.Pointer[string] // the header that tells what remains
	full   int64                  // how many saturate
	trials []*trial
	anew   int // the first trial that histories begin with
	forged []Forged

	mu    sync.Mutex
	apart []answer // to requests that belong to no experiment
}

// trial is an experiment that was carried out.
type trial struct {
	experiment
	client  int
	mu      sync.Mutex
	answers []answer
}

func (t *trial) add(a answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers = append(t.answers, a)
}

func newRunner(c *Config) (*runner, error) {
	r := &runner{Config: c, base: time.Now(), full: c.Limit.Count + 2}
	r.offset = r.base.UnixMicro() % c.Limit.Window.Microseconds()
	r.began = r.now()
	if err := r.bounded(false); err != nil {
		return nil, err
	}
	r.crowd = newCrowd(c)
	if r.crowd.kind == onlyOne {
		return r, r.bounded(true)
	}
	return r, nil
}

func (r *runner) close() { r.crowd.close() }

// phases is at how many phases bursts are sent: fewer where each has to wait for the one before.
func phases(one bool) int {
	if one {
		return 2
	}
	return 5
}

// bounded returns an error if the plan would take more requests or time than it may.
func (r *runner) bounded(one bool) error {
	w := r.Limit.Window
	need := 8*r.Limit.Count + 4*r.full + forgedRequests(r.full)
	length := w // the first bursts, and what they are followed by
	if one {
		length = 5 * w
	}
	for _, wave := range r.waves(plan(r.Config, r.full, phases(one)), one) {
		for _, e := range wave {
			need += e.requests()
		}
		length += r.lasts(wave, one)
	}
	length += forgedLength(w)
	if need > r.Requests {
		return fmt.Errorf("ask: requests: %d: the limit %s takes about %d: want so many, or a smaller limit", r.Requests, r.Limit, need)
	}
	if length > r.Time {
		hint := ""
		if one {
			hint = " or a header with " + ClientMark + ", which makes clients of their own"
		}
		return fmt.Errorf("ask: time: %v: the limit %s takes about %v: want so much%s", r.Time, r.Limit, length.Round(time.Second), hint)
	}
	return nil
}

// lasts is how long a wave takes, with what it waits for before.
func (r *runner) lasts(wave []experiment, one bool) time.Duration {
	var longest time.Duration
	for _, e := range wave {
		longest = max(longest, e.phase+e.length(r.Limit.Window))
	}
	if one {
		longest += 2 * r.Limit.Window // half a window on average until the phase, and the rest
	}
	return longest
}

// perWave is how many requests the clients of a wave send together, so that they do not wait for one another.
const perWave = 1500

// waves are the experiments that run beside each other.
func (r *runner) waves(all []experiment, one bool) (waves [][]experiment) {
	var sum int64
	for _, e := range all {
		n := e.requests()
		if len(waves) == 0 || one || sum+n > perWave {
			waves, sum = append(waves, nil), 0
		}
		last := len(waves) - 1
		waves[last] = append(waves[last], e)
		sum += n
	}
	return waves
}

func (r *runner) run(ctx context.Context) error {
	deadline, cancel := context.WithTimeoutCause(ctx, r.Time, fmt.Errorf("ask: time: %v: the answers took too long: want more", r.Time))
	defer cancel()
	if err := r.steps(deadline); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Cause(deadline)
}

func (r *runner) steps(ctx context.Context) error {
	r.Progress(0, 1, "a first burst")
	if r.crowd.kind == onlyOne { // it may have sent something before the run
		r.sleep(ctx, r.now()+2*r.Limit.Window.Microseconds())
	}
	more, err := r.first(ctx)
	if err != nil || !more {
		return err
	}
	r.tellApart(ctx)
	one := r.crowd.kind == onlyOne
	if err := r.bounded(one); err != nil {
		return err
	}
	waves := r.waves(plan(r.Config, r.full, phases(one)), one)
	for i, wave := range waves {
		r.Progress(i+1, len(waves)+2, wave[0].name)
		if one {
			r.sleep(ctx, r.now()+r.Limit.Window.Microseconds())
		}
		r.together(ctx, wave)
		if ctx.Err() != nil {
			return nil
		}
	}
	r.Progress(len(waves)+1, len(waves)+2, "forged headers")
	r.forge(ctx)
	return nil
}

// first learns how many saturate. It reports whether there is anything more to learn.
func (r *runner) first(ctx context.Context) (bool, error) {
	l := r.Limit.Count
	e := experiment{name: inOneBurst, shots: []shot{{n: 2*l + 2}}}
	t := r.carryOut(ctx, e, 0, r.now())
	if !slices.ContainsFunc(t.answers, func(a answer) bool { return a.outcome != failed }) {
		if err := context.Cause(ctx); err != nil {
			return false, err
		}
		return false, fmt.Errorf("%w: %w", ErrUnreachable, t.answers[0].err)
	}
	if count(t.answers, denied) == 0 {
		t2 := r.carryOut(ctx, experiment{name: inOneBurst, shots: []shot{{n: 6 * l}}}, 0, r.now())
		t.answers = append(t.answers, t2.answers...)
		r.trials = r.trials[:1] // one burst, in two parts
	}
	r.full = max(r.full, count(t.answers, allowed)+2)
	return count(t.answers, denied) > 0 && count(t.answers, allowed) > 0, nil
}

// tellApart finds out whether clients have a limit each. Three new ones come at once: under one limit for all of them,
// they cannot each be admitted more than half of what the first one was.
func (r *runner) tellApart(ctx context.Context) {
	if r.crowd.kind == onlyOne {
		return
	}
	atOnce := count(r.trials[0].answers, allowed)
	e := experiment{name: inOneBurst, shots: []shot{{n: r.full}}}
	trials := make([]*trial, 3)
	var wg sync.WaitGroup
	now := r.now()
	for i := range trials {
		trials[i] = &trial{experiment: e, client: i + 1}
		wg.Go(func() { r.fire(ctx, trials[i], now) })
	}
	wg.Wait()
	r.trials = append(r.trials, trials...)
	for _, t := range trials {
		if 2*count(t.answers, allowed) <= atOnce {
			r.becomeOne(ctx)
			return
		}
	}
}

// becomeOne goes on as one client, as if nothing had been before: when all places are back, it does not matter to whom
// what was sent until now counted.
func (r *runner) becomeOne(ctx context.Context) {
	r.crowd.kind = onlyOne
	r.anew = len(r.trials)
	w := r.Limit.Window.Microseconds()
	_ = r.sleep(ctx, r.now()+max(2*w, r.full*w/r.Limit.Count)) // what comes next sees the same context
}

// together carries out a wave, each experiment from the next instant of its phase on.
func (r *runner) together(ctx context.Context, wave []experiment) {
	w := r.Limit.Window.Microseconds()
	begin := r.now() + 10_000 // time to start them all
	var wg sync.WaitGroup
	for _, e := range wave {
		at := floorDiv(begin, w)*w + e.phase.Microseconds()
		if at < begin {
			at += w
		}
		t := &trial{experiment: e, client: len(r.trials)}
		if r.crowd.kind == onlyOne {
			t.client = 0
		}
		r.trials = append(r.trials, t)
		wg.Go(func() { r.fire(ctx, t, at) })
	}
	wg.Wait()
}

func (r *runner) carryOut(ctx context.Context, e experiment, client int, at int64) *trial {
	t := &trial{experiment: e, client: client}
	r.trials = append(r.trials, t)
	r.fire(ctx, t, at)
	return t
}

// fire sends an experiment's shots in time, without waiting for the answers to earlier ones unless they matter.
func (r *runner) fire(ctx context.Context, t *trial, begin int64) {
	c := r.crowd.client(t.client)
	var wg sync.WaitGroup
	for i, s := range t.shots {
		if s.wait || s.serial || i > 0 && t.shots[i-1].wait {
			wg.Wait()
		}
		at := begin + s.after.Microseconds()
		if s.wait {
			var ok bool
			if at, ok = t.told(longestWait(r.Limit.Window).Microseconds()); !ok {
				break
			}
		}
		if r.sleep(ctx, at) != nil {
			break
		}
		for range s.n {
			one := func() {
				c.slots <- struct{}{}
				a := r.send(ctx, c, nil)
				<-c.slots
				a.shot = i
				t.add(a)
			}
			if s.serial {
				one()
			} else {
				wg.Go(one)
			}
		}
	}
	wg.Wait()
}

// told is when the latest denial of the trial's last shot says to try again, counted from when its answer had come; false
// if it says nothing, or too long.
func (t *trial) told(longest int64) (int64, bool) {
	at := int64(never)
	for _, a := range t.answers {
		if a.outcome == denied && a.wait != untold && a.wait <= longest {
			at = max(at, a.at.hi+a.wait)
		}
	}
	return at, at != never
}

// sleep waits until a time, and returns the context's error if that ends before.
func (r *runner) sleep(ctx context.Context, at int64) error {
	d := time.Duration(at-r.now()) * time.Microsecond
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func count(answers []answer, o outcome) (n int64) {
	for _, a := range answers {
		if a.outcome == o {
			n++
		}
	}
	return n
}
