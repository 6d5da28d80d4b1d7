package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// register is a plain value under one key: a write of what is not zero, or a read.
type register struct{ write, read int }

var registers = sequential[int, register]{
	step: func(value int, r register, _ bool) (int, bool) {
		if r.write != 0 {
			return r.write, true
		}
		return value, r.read == value
	},
	reads: func(r register) bool { return r.write == 0 },
	show: func(key int, r register) string {
		if r.write != 0 {
			return fmt.Sprintf("Write(k%d, %d)", key, r.write)
		}
		return fmt.Sprintf("Read(k%d) = %d", key, r.read)
	},
}

func TestJudge(t *testing.T) {
	at := func(caller, key int, began, ended int64, r register) operation[register] {
		return operation[register]{caller: caller, key: key, began: began, ended: ended, call: r}
	}
	// Reads that overlap the write may see it or not; another key's do not matter.
	fine := []operation[register]{
		at(0, 0, 1, 6, register{write: 7}),
		at(1, 0, 2, 3, register{read: 0}),
		at(2, 0, 4, 5, register{read: 7}),
		at(1, 1, 7, 8, register{read: 0}),
		at(1, 0, 9, 10, register{read: 7}),
	}
	require.NoError(t, registers.judge(fine, "intro"))

	// Here one read saw the write, and a later one did not. What came before, after and on
	// another key is left out, and of the write, which ended later, the end.
	stale := []operation[register]{
		at(3, 1, 1, 2, register{write: 9}),
		at(2, 0, 3, 4, register{read: 0}),
		at(0, 0, 5, 20, register{write: 7}),
		at(1, 0, 6, 7, register{read: 0}),
		at(1, 0, 8, 9, register{read: 7}),
		at(2, 0, 10, 11, register{read: 0}),
		at(2, 0, 21, 22, register{write: 8}),
		at(2, 0, 23, 24, register{read: 8}),
	}
	v := broken(registers.judge(stale, "intro"))
	require.NotNil(t, v)
	require.Equal(t, Fail, v.status)
	require.Equal(t, []string{
		"  5 to   …: caller 0: Write(k0, 7)",
		"  8 to   9: caller 1: Read(k0) = 7",
		" 10 to  11: caller 2: Read(k0) = 0",
	}, v.history[2:])
}

// A search that is given up has shown nothing.
func TestUndecidedIsInconclusive(t *testing.T) {
	t.Parallel()
	slow := registers
	slow.step = func(value int, r register, _ bool) (int, bool) {
		time.Sleep(decideWithin)
		return value, false
	}
	at := []operation[register]{{began: 1, ended: 2}, {began: 3, ended: 4}}
	v := verdictOf(slow.judge(at, ""))
	require.NotNil(t, v)
	require.Equal(t, Inconclusive, v.status)
}
