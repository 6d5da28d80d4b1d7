package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weirlimits/weir/store"
)

// probe is what a check works with: the store, keys of its own, and its chance.
type probe struct {
	suite  *suite
	st     store.Store
	prefix string // begins every key
	rng    *rand.Rand
	time   Time
	trials int

	mu   sync.Mutex
	keys map[string]struct{} // to be deleted in the end
}

// key returns a key of the check's own.
func (p *probe) key(name string) string {
	key := p.prefix + "/" + name
	p.remember(key)
	return key
}

func (p *probe) remember(keys ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range keys {
		p.keys[key] = struct{}{}
	}
}

// cleanup deletes the check's keys, also where its context is done. What fails has a TTL.
func (p *probe) cleanup(ctx context.Context) {
	if p.suite.dead.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	p.mu.Lock()
	keys := make([]string, 0, len(p.keys))
	for key := range p.keys {
		keys = append(keys, key)
	}
	p.mu.Unlock()
	_ = guarded(ctx, func() error { return p.st.Delete(ctx, keys...) })
}

// exists asks, by whatever the store has and is not to be left out, whether the key is there.
func (p *probe) exists(ctx context.Context, key string) (bool, error) {
	if st, ok := p.footprint(); ok {
		n, err := st.Size(ctx, key)
		return n > 0, err
	}
	switch st := p.st.(type) {
	case store.Swapper:
		_, version, err := st.Load(ctx, key)
		if err != nil && ctx.Err() == nil && p.suite.gone(ctx) == nil {
			return true, nil // something of another kind is there
		}
		return version != "", err
	case store.Counter:
		counts, err := st.Read(ctx, key)
		return err == nil && counts[0] > 0, err
	}
	return false, unsupportedf("the store has no way to tell whether a key exists")
}

// footprint returns the store as one that tells sizes, unless that is to be left out.
func (p *probe) footprint() (store.Footprint, bool) {
	st, ok := p.st.(store.Footprint)
	_, skipped := p.suite.cfg.Skip["footprint"]
	return st, ok && !skipped
}

// callers is how many call at once where a check is about concurrency.
const callers = 64

// together runs fn in as many goroutines at once as there are callers and joins their errors.
func together(fn func(i int) error) error {
	parts := make([][]int, callers)
	for i := range parts {
		parts[i] = []int{i}
	}
	return atOnce(parts, fn)
}

// atOnce runs fn on the parts of all callers at once, in order on each part, up to its first
// error, and joins the errors.
func atOnce[E any](parts [][]E, fn func(e E) error) error {
	errs := make([]error, len(parts))
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() {
			<-begin
			for _, e := range part {
				if errs[i] = recovered(func() error { return fn(e) }); errs[i] != nil {
					return
				}
			}
		})
	}
	close(begin)
	wg.Wait()
	return errors.Join(errs...)
}
