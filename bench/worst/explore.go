package worst

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirlimits/weir"
)

const (
	mostCost   = 3
	mostTicks  = 10_000
	mostStates = 400_000
)

// node is a reachable state of everything: the clock, the limiter, and the history by
// which it is judged.
//
// There are finitely many, since times are kept within one period: where the clock
// enters the next, the log is run again one period earlier, and what the step then
// writes is the state. So no node is made up: each is what the step itself writes for
// the requests in its log, whatever the bytes mean. Two histories meet in one node only
// where the clock, the bytes and the judged history are equal, and then their futures
// are. A state that a peek calls as if never used is dropped, if it answers so.
type node struct {
	phase  int64   // the clock: ticks since the period began
	state  string  // the limiter's bytes
	log    []event // what wrote them
	past   []event // what was admitted, as far back as it counts; one event a tick
	parent int32   // the node before; -1 at the start
	by     event   // what led here; at cost 0 a tick
}

// event is a request that wrote. Its time is in ticks since the period began, negative
// before.
type event struct {
	at      int32
	cost    int16
	allowed bool
}

type explorer struct {
	m     *machine
	spare int64 // how many ticks beyond a window the history counts
	room  int   // for so many nodes

	nodes []node
	index map[string]int32
	rates *graph          // of the limiter's states alone
	dead  map[string]bool // states that were found to be as if never used
	key   []byte

	most, deficit  int64
	late           int64 // DeficitFor in ticks; above spare it stands for anything longer
	mostAt, freeAt int32 // the nodes that saw them first
}

func newExplorer(m *machine) *explorer {
	e := &explorer{m: m, room: mostStates, index: map[string]int32{}, rates: newGraph(), dead: map[string]bool{}}
	switch g := m.guarantee; {
	case g.Deficit == 0: // any at all contradicts
	case g.DeficitFor > 0:
		e.spare = g.DeficitFor.Microseconds()
	default:
		e.spare = max(m.window-2, 0)
	}
	return e
}

// explore goes breadth first, so that what is found first takes the fewest steps.
func (e *explorer) explore() error {
	for phase := range e.m.period {
		if err := e.reach(node{phase: phase, parent: -1}); err != nil {
			return err
		}
	}
	for i := int32(0); int(i) < len(e.nodes); i++ {
		if len(e.nodes) > e.room {
			return fmt.Errorf("%w: more than %d states: want a smaller limit or window", ErrOutOfReach, e.room)
		}
		from := e.rates.vertex(e.nodes[i].phase, e.nodes[i].state)
		for cost := int64(1); cost <= min(mostCost, e.m.capacity); cost++ {
			next, err := e.take(i, cost)
			if err != nil {
				return err
			}
			gain := int64(0)
			if next.by.allowed {
				gain = cost
			}
			e.rates.connect(from, int(cost), e.rates.vertex(next.phase, next.state), gain)
			if err := e.reach(next); err != nil {
				return err
			}
		}
		next, err := e.tick(i)
		if err != nil {
			return err
		}
		e.rates.connect(from, tickEdge, e.rates.vertex(next.phase, next.state), 0)
		if err := e.reach(next); err != nil {
			return err
		}
	}
	return nil
}

// reach adds a node that is new, and judges its history.
func (e *explorer) reach(n node) error {
	e.key = binary.AppendVarint(e.key[:0], n.phase)
	e.key = binary.AppendUvarint(e.key, uint64(len(n.past)))
	for _, ev := range n.past {
		e.key = binary.AppendVarint(e.key, n.phase-int64(ev.at))
		e.key = binary.AppendVarint(e.key, int64(ev.cost))
	}
	e.key = append(e.key, n.state...)
	if _, known := e.index[string(e.key)]; known {
		return nil
	}
	i := int32(len(e.nodes))
	e.index[string(e.key)] = i
	e.nodes = append(e.nodes, n)
	if sum := e.admitted(&n, e.m.window); sum > e.most {
		e.most, e.mostAt = sum, i
	}
	return nil
}

// admitted is how much the last so many ticks saw.
func (e *explorer) admitted(n *node, ticks int64) (sum int64) {
	for _, ev := range n.past {
		if n.phase-int64(ev.at) < ticks {
			sum += int64(ev.cost)
		}
	}
	return sum
}

// take is the node after a request.
func (e *explorer) take(i int32, cost int64) (node, error) {
	n := e.nodes[i]
	res, err := e.m.run(n.state, e.m.base+n.phase, cost)
	if err != nil {
		return node{}, err
	}
	n.parent, n.by = i, event{at: int32(n.phase), cost: int16(cost), allowed: res.Reply.Allowed}
	if res.State != nil {
		n.state = string(res.State)
		n.log = append(slices.Clip(n.log), n.by)
	}
	switch {
	case n.by.allowed:
		if last := len(n.past) - 1; last >= 0 && n.past[last].at == n.by.at {
			n.past = slices.Clone(n.past)
			n.past[last].cost += n.by.cost
		} else {
			n.past = append(slices.Clip(n.past), n.by)
		}
		n.past = e.relevant(n.phase, n.past)
	case cost == 1:
		e.denied(i)
	}
	return n, nil
}

// denied judges a denial of cost 1.
func (e *explorer) denied(i int32) {
	n := &e.nodes[i]
	free := e.m.limit - e.admitted(n, e.m.window)
	if free <= 0 {
		return
	}
	if free > e.deficit {
		e.deficit, e.freeAt = free, i
	}
	late, sum := e.spare+1, int64(0)
	for _, ev := range slices.Backward(n.past) {
		if sum += int64(ev.cost); sum >= e.m.limit {
			late = n.phase - int64(ev.at) - e.m.window + 1
			break
		}
	}
	e.late = max(e.late, late)
}

// tick is the node one tick later.
func (e *explorer) tick(i int32) (node, error) {
	n := e.nodes[i]
	n.parent, n.by = i, event{}
	n.phase++
	n.past = e.relevant(n.phase, n.past)
	if n.phase == e.m.period {
		n.phase = 0
		n.past = earlier(n.past, e.m.period)
		var err error
		if n.log, n.state, err = e.rerun(earlier(n.log, e.m.period)); err != nil {
			return node{}, err
		}
	}
	return n, e.drop(&n)
}

// relevant drops what no longer counts: what is older than the window by more than
// spare, and of what has left the window all but the newest L of the whole.
func (e *explorer) relevant(now int64, past []event) []event {
	sum := int64(0)
	for k, ev := range slices.Backward(past) {
		age := now - int64(ev.at)
		if age >= e.m.window && sum >= e.m.limit || age >= e.m.window+e.spare {
			return slices.Clone(past[k+1:])
		}
		if sum += int64(ev.cost); age >= e.m.window && sum > e.m.limit {
			past = slices.Clone(past[k:])
			past[0].cost -= int16(sum - e.m.limit)
			return past
		}
	}
	return past
}

// earlier moves events back.
func earlier(events []event, by int64) []event {
	moved := slices.Clone(events)
	for k := range moved {
		moved[k].at -= int32(by)
	}
	return moved
}

// rerun returns the state that a log writes, and the log without its oldest requests
// as far as the rest writes the same.
func (e *explorer) rerun(log []event) ([]event, string, error) {
	state, err := e.m.replay(log)
	if err != nil {
		return nil, "", err
	}
	for len(log) > 0 {
		if shorter, err := e.m.replay(log[1:]); err != nil || shorter != state {
			break // an error too only says that the oldest request matters
		}
		log = log[1:]
	}
	return slices.Clone(log), state, nil
}

// drop forgets a state that is as if never used.
func (e *explorer) drop(n *node) error {
	if n.state == "" {
		return nil
	}
	res, err := e.m.run(n.state, e.m.base+n.phase, 0)
	if err != nil || res.Reply.ResetAfter > 0 {
		return err
	}
	e.key = append(binary.AppendVarint(e.key[:0], n.phase), n.state...)
	if !e.dead[string(e.key)] {
		unused, err := e.m.unused(n.state, e.m.base+n.phase)
		if err != nil {
			return err
		}
		if !unused {
			return errors.New("a state with no time left to its reset still matters")
		}
		e.dead[string(e.key)] = true
	}
	n.state, n.log = "", nil
	return nil
}

func (e *explorer) result(a weir.Algorithm) Result {
	r := Result{
		Algorithm: a.String(), Limit: e.m.limit, Ticks: e.m.window,
		MaxInWindow: e.most, Deficit: e.deficit, States: len(e.nodes),
	}
	// Without a declared time, one tick less than a window counts as none.
	if e.m.guarantee.DeficitFor > 0 || e.late <= e.spare || e.m.guarantee.Deficit == 0 {
		r.DeficitFor = time.Duration(e.late) * time.Microsecond
	}
	perWindow := float64(e.m.window) / float64(e.m.limit)
	r.LongRun = e.rates.highest().float() * perWindow
	r.Saturated = e.rates.greediest().float() * perWindow
	if e.most > 0 {
		r.MaxSequence, _ = e.sequence(e.mostAt)
	}
	if e.deficit > 0 {
		steps, now := e.sequence(e.freeAt)
		r.DeficitSequence = append(steps, Step{Time: now, Cost: 1})
	}
	return r
}
