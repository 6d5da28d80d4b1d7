package conformance

import (
	"context"
	"time"
)

// The TTL that the checks watch is no whole number of seconds, so that a store which cuts
// it to one is seen.
const watchedTTL = 1300 * time.Millisecond

const (
	// goneAfter is how long a key may outlive its TTL and the grain of it.
	goneAfter = 2 * time.Second
	// muchLater is when a key that is still there counts as one without a TTL.
	muchLater = 3 * time.Second
	// lookEvery is how often the key is looked at.
	lookEvery = 40 * time.Millisecond
	// tick is by how much two clocks may differ over so short a time.
	tick = 3 * time.Millisecond
)

// life is a key whose time to live is watched.
type life struct {
	create func() error         // writes the key with watchedTTL
	half   func() error         // done in the middle of its life, if not nil
	renews bool                 // half sets watchedTTL anew
	alive  func() (bool, error) // whether it is there
}

// watch holds the key's end against the rule: a TTL is a floor, and the key is gone
// soon after it.
func (p *probe) watch(ctx context.Context, l life) error {
	grain := p.st.Traits().TTLGrain
	before := p.time.Now()
	if err := l.create(); err != nil {
		return err
	}
	after := p.time.Now()
	halfDone, seen, late := l.half == nil, before, time.Duration(0)
	for {
		asked := p.time.Now()
		alive, err := l.alive()
		if err != nil {
			return err
		}
		answered := p.time.Now()
		floor, end := before.Add(watchedTTL-tick), after.Add(watchedTTL+grain+goneAfter)
		switch {
		case !alive && answered.Before(floor):
			return failf("gone %v after it was written with a TTL of %v", answered.Sub(before).Round(time.Millisecond), watchedTTL)
		case !alive && !halfDone, !alive && floor.Sub(seen) > watchedTTL/3:
			return inconclusivef("the store answered too slowly to see when the key ended")
		case !alive && late > 0:
			return overclaimf("with a TTL of %v and TTLGrain %v the key was there for %v: want gone within the grain and %v",
				watchedTTL, grain, late.Round(time.Millisecond), goneAfter)
		case !alive:
			return nil
		case asked.After(end.Add(muchLater)):
			return failf("still there %v after it was written with a TTL of %v", asked.Sub(after).Round(time.Millisecond), watchedTTL)
		}
		if asked.Before(floor) {
			seen = answered
		}
		if asked.After(end) {
			late = asked.Sub(after)
		}
		if !halfDone && asked.Sub(before) >= watchedTTL/2 {
			renewed := p.time.Now()
			err := l.half()
			if !p.time.Now().Before(floor) {
				return inconclusivef("the store answered too slowly to write in the middle of the key's life")
			}
			if err != nil {
				return err
			}
			halfDone = true
			if l.renews {
				before, after = renewed, p.time.Now()
			}
		}
		if err := p.time.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}
