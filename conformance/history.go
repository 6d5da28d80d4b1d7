package conformance

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is a call of a concurrent history. C is the call and its answer.
type operation[C any] struct {
	caller, key  int
	began, ended int64 // their places among all beginnings and ends
	call         C
	cut          bool // the history ends before the call did: the answer is not known
}

// recorder takes down a concurrent history. Its order is that of one counter, so no clock
// decides what came before what.
type recorder[C any] struct {
	place atomic.Int64
	mu    sync.Mutex
	all   []operation[C]
}

// call takes down what fn does and answers; a call that gives an error ends the history.
// It lets others run first, so that calls overlap also where the store answers at once.
func (r *recorder[C]) call(caller, key int, fn func() (C, error)) error {
	began := r.place.Add(1)
	runtime.Gosched()
	c, err := fn()
	ended := r.place.Add(1)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, operation[C]{caller: caller, key: key, began: began, ended: ended, call: c})
	return nil
}

// sequential is what one key would do if its calls came one after another.
type sequential[S comparable, C any] struct {
	// step tells whether in this state the call gets its answer, and what follows. Where the
	// answer is not known, any is right.
	step func(state S, call C, known bool) (next S, ok bool)
	// reads tells that the call changed nothing, by its answer.
	reads func(call C) bool
	show  func(key int, call C) string
}

// decideWithin bounds the search for an order of one key's calls. It commonly takes a
// thousandth of that.
const decideWithin = 2 * time.Second

// judge looks, key by key, for an order of the calls that explains every answer and in
// which none comes before one that had ended when it began. Where there is none it
// returns the verdict with a short part of the history for which there is none either.
func (m sequential[S, C]) judge(history []operation[C], intro string) error {
	byKey := map[int][]operation[C]{}
	for _, op := range history {
		byKey[op.key] = append(byKey[op.key], op)
	}
	for _, ops := range byKey {
		switch m.decide(ops) {
		case porcupine.Ok:
		case porcupine.Illegal:
			j := journal{lines: []string{intro, "calls, from the place of their beginning to that of their end in the order of all:"}}
			for _, op := range m.shorten(ops) {
				j.note("%s", m.line(op))
			}
			return j.failf("no order of these calls explains their answers")
		default:
			return inconclusivef("whether an order of %d calls explains their answers was not decided within %v", len(ops), decideWithin)
		}
	}
	return nil
}

func (m sequential[S, C]) line(op operation[C]) string {
	end := fmt.Sprint(op.ended)
	if op.cut {
		end = "…"
	}
	return fmt.Sprintf("%3d to %3s: caller %d: %s", op.began, end, op.caller, m.show(op.key, op.call))
}

// decide searches for an order of one key's calls.
func (m sequential[S, C]) decide(ops []operation[C]) porcupine.CheckResult {
	history := make([]porcupine.Operation, len(ops))
	for i, op := range ops {
		history[i] = porcupine.Operation{ClientId: op.caller, Input: op, Call: op.began, Return: op.ended}
		if op.cut {
			history[i].Return = math.MaxInt64
		}
	}
	return porcupine.CheckOperationsTimeout(porcupine.Model{
		Init: func() any { var first S; return first },
		Step: func(state, input, _ any) (bool, any) {
			op := input.(operation[C])
			next, ok := m.step(state.(S), op.call, !op.cut)
			return ok || op.cut, next
		},
	}, history, decideWithin)
}

// shorten returns a part of a history without an order that has none either. A beginning of
// a history that has an order has one too, so the shortest is found by halving; and so has
// one without a call that changed nothing, so those are left out one by one.
func (m sequential[S, C]) shorten(ops []operation[C]) []operation[C] {
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b operation[C]) int { return cmp.Compare(a.ended, b.ended) })
	low, high := 1, len(ops) // calls that ended
	for low < high {
		if half := (low + high) / 2; m.decide(beginning(ops, half)) == porcupine.Illegal {
			high = half
		} else {
			low = half + 1
		}
	}
	ops = beginning(ops, high)
	for i := 0; i < len(ops); {
		part := slices.Delete(slices.Clone(ops), i, i+1)
		if m.reads(ops[i].call) && m.decide(part) == porcupine.Illegal {
			ops = part
		} else {
			i++
		}
	}
	slices.SortFunc(ops, func(a, b operation[C]) int { return cmp.Compare(a.began, b.began) })
	return ops
}

// beginning returns the first so many calls to end, and those that had begun by then.
func beginning[C any](ops []operation[C], ended int) []operation[C] {
	part := slices.Clone(ops[:ended])
	for _, op := range ops[ended:] {
		if op.began < ops[ended-1].ended {
			op.cut = true
			part = append(part, op)
		}
	}
	return part
}
