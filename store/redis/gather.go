package redis

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	// maxWeight bounds a batch, in microseconds of the server, which does nothing else meanwhile.
	maxWeight = 1000
	// callWeight is what a script costs beside its decisions.
	callWeight = 10
	// stepWeight is that of a step which does not tell.
	stepWeight = 5
	// defaultTrips keeps both ends busy: one trip is decided while the other is on its way.
	defaultTrips = 2
	maxTrips     = 1000
	// patience is how long no trip to a server may end before another one sets out.
	patience = 20 * time.Millisecond
)

// gatherer lets callers share trips. While few are under way a caller goes straight to the
// server, on its own goroutine. Otherwise it queues, and the next trip that ends hands over to
// a goroutine which takes those that wait, and ends when nobody waits any more.
type gatherer struct {
	store *Store
	batch int // decisions of one trip, at most
	trips int // under way to one server, before callers queue

	mu    sync.Mutex
	lanes map[*goredis.Client]*lane // those on which anything moves
	only  lane                      // without a cluster

	cluster *goredis.ClusterClient // nil: one server
	mapped  atomic.Bool            // it has been reached, so its map of slots is at hand
}

// lane is the way to one server. The gatherer's mutex guards it.
type lane struct {
	node     *goredis.Client // nil: the only one
	trips    int             // under way
	riders   int             // decisions that they make
	queue    []*request
	departed time.Time // when the last trip did
}

// gathering is a request's part in it, guarded by the gatherer's mutex.
type gathering struct {
	lane   *lane
	batch  *batch        // once it is under way
	left   bool          // the caller has gone
	done   chan struct{} // told once, when the request is decided
	weight int
	ctx    context.Context
}

// batch is one trip of several callers.
type batch struct {
	requests []*request
	waiting  int // callers that have not gone
	over     bool
	cancel   context.CancelFunc
}

func newGatherer(s *Store, opts *Options) *gatherer {
	g := &gatherer{store: s, batch: opts.MaxBatch, trips: opts.Trips, lanes: map[*goredis.Client]*lane{}}
	if g.batch == 0 {
		g.batch = maxBatch
	}
	if g.trips == 0 {
		g.trips = defaultTrips
	}
	if g.batch == 1 {
		return nil
	}
	switch c := s.client.(type) {
	case *goredis.Client:
	case *goredis.ClusterClient:
		g.cluster = c
	default:
		return nil // who knows which server a key goes to
	}
	return g
}

// run decides a request, alone or with others. Of a request whose caller has gone it
// returns the error, and the request is still another's.
func (g *gatherer) run(ctx context.Context, q *request) (alone bool, gone error) {
	node, known := g.node(ctx, q.key)
	if !known {
		alone := g.store.decide(ctx, []*request{q}, g.store.exchange)
		if q.err == nil {
			g.mapped.Store(true)
		}
		return alone, nil
	}
	q.weight = g.weigh(q) // the step's own function, so not under the mutex
	g.mu.Lock()
	l := g.lane(node)
	if l.trips < g.trips {
		l.depart()
		l.riders++
		g.mu.Unlock()
		defer g.arrived(l)
		return g.store.decide(ctx, []*request{q}, g.store.exchange), nil
	}
	q.ctx, q.lane = ctx, l
	l.queue = append(l.queue, q)
	if time.Since(l.departed) > patience {
		l.depart()
		go g.work(l)
	}
	g.mu.Unlock()

	ended := ctx.Done()
	if ended == nil {
		<-q.done // quicker than to select
		return true, nil
	}
	select {
	case <-q.done:
	case <-ended:
		if g.leave(q) {
			return false, ctx.Err()
		}
		<-q.done
	}
	return true, nil
}

// node returns the server that has the key, and false where the cluster's map is not
// known yet and to learn it might take longer than the caller has.
func (g *gatherer) node(ctx context.Context, key string) (*goredis.Client, bool) {
	if g.cluster == nil {
		return nil, true
	}
	if !g.mapped.Load() {
		return nil, false
	}
	node, err := g.cluster.MasterForKey(ctx, key)
	return node, err == nil
}

func (g *gatherer) lane(node *goredis.Client) *lane {
	if node == nil {
		return &g.only
	}
	l := g.lanes[node]
	if l == nil {
		l = &lane{node: node}
		g.lanes[node] = l
	}
	return l
}

func (g *gatherer) weigh(q *request) int {
	w := stepWeight
	if q.runner.weight != nil {
		w = q.runner.weight(q.args)
	}
	if g.cluster != nil { // where most keys are in different slots
		w += callWeight
	}
	return w
}

func (l *lane) depart() {
	l.trips++
	l.departed = time.Now()
}

// arrived ends a trip: another one takes its place if anybody waits.
func (g *gatherer) arrived(l *lane) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.riders--
	g.end(l)
	if len(l.queue) > 0 && l.trips < g.trips {
		l.depart()
		go g.work(l)
	}
}

func (g *gatherer) end(l *lane) {
	l.trips--
	if l.trips == 0 && len(l.queue) == 0 && l.node != nil {
		delete(g.lanes, l.node)
	}
}

// leave withdraws a request whose caller goes, and returns false if it is decided. A
// batch that all have left is not waited for.
func (g *gatherer) leave(q *request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := q.batch
	if b != nil && b.over {
		return false
	}
	q.left = true
	if b == nil {
		return true
	}
	if b.waiting--; b.waiting == 0 {
		b.over = true
		b.cancel()
		q.lane.riders -= len(b.requests)
		g.end(q.lane)
		if len(q.lane.queue) > 0 && q.lane.trips < g.trips {
			q.lane.depart()
			go g.work(q.lane)
		}
	}
	return true
}

// work makes trips as long as anybody waits.
func (g *gatherer) work(l *lane) {
	for {
		b, ctx := g.take(l)
		if b == nil {
			return
		}
		g.store.decide(ctx, b.requests, g.exchange)
		g.mu.Lock()
		over := b.over
		if !over {
			b.over = true
			l.riders -= len(b.requests)
		}
		g.mu.Unlock()
		b.cancel()
		if over {
			return
		}
		for _, q := range b.requests {
			q.done <- struct{}{}
		}
		runtime.Gosched() // those who ask again at once share the next trip
	}
}

// exchange waits for the client whatever its context says: each caller minds its own.
func (g *gatherer) exchange(ctx context.Context, cmds []goredis.Cmder) error {
	if err := g.store.ready(ctx); err != nil {
		return err
	}
	g.store.transmit(ctx, cmds)
	return nil
}

// take makes a batch of those who wait, or ends the trip if it is not needed any more.
func (g *gatherer) take(l *lane) (*batch, context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, weight, taken := &batch{}, 0, 0
	// A fair share for each trip: of a large one and a small one, the server would soon wait for the large.
	share := min(g.batch, (len(l.queue)+l.riders+g.trips-1)/g.trips)
	for _, q := range l.queue {
		if !q.left {
			if weight += q.weight; len(b.requests) > 0 && weight > maxWeight || len(b.requests) == share {
				break
			}
			q.batch = b
			b.requests = append(b.requests, q)
		}
		taken++
	}
	rest := copy(l.queue, l.queue[taken:])
	clear(l.queue[rest:])
	l.queue = l.queue[:rest]
	if len(b.requests) == 0 {
		g.end(l)
		return nil, nil
	}
	l.departed = time.Now()
	b.waiting = len(b.requests)
	l.riders += b.waiting
	return b, b.context()
}

// context ends when all callers have gone, or by the last of their deadlines. It carries
// none of their values.
func (b *batch) context() context.Context {
	var last time.Time
	bounded, mayGo := true, false
	for _, q := range b.requests {
		deadline, ok := q.ctx.Deadline()
		bounded = bounded && ok
		mayGo = mayGo || q.ctx.Done() != nil
		if deadline.After(last) {
			last = deadline
		}
	}
	ctx := context.Background()
	switch {
	case bounded:
		ctx, b.cancel = context.WithDeadline(ctx, last)
	case mayGo:
		ctx, b.cancel = context.WithCancel(ctx)
	default:
		b.cancel = func() {}
	}
	return ctx
}
