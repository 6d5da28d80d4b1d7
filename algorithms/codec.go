package algorithms

import (
	_ "embed"
	"encoding/binary"

	"github.com/weirlimits/weir/store"
)

// States are little-endian integers of fixed width, the same bytes on every store.

//go:embed lua/base.lua
var luaBase string

//go:embed lua/get.lua
var luaGet string

//go:embed lua/put.lua
var luaPut string

// maxTime bounds every stored time: Lua counts exactly below 2^53.
const maxTime = 1<<53 - 1

var corrupt = store.Result{Corrupt: true}

func get32(b []byte) int64 { return int64(binary.LittleEndian.Uint32(b)) }

func get48(b []byte) int64 {
	return int64(binary.LittleEndian.Uint32(b)) | int64(binary.LittleEndian.Uint16(b[4:]))<<32
}

func get56(b []byte) int64 {
	return int64(binary.LittleEndian.Uint32(b)) | int64(binary.LittleEndian.Uint32(b[3:])>>8)<<32
}

func put32(b []byte, v int64) { binary.LittleEndian.PutUint32(b, uint32(v)) }

func put48(b []byte, v int64) {
	binary.LittleEndian.PutUint32(b, uint32(v))
	binary.LittleEndian.PutUint16(b[4:], uint16(v>>32))
}

func put56(b []byte, v int64) {
	binary.LittleEndian.PutUint32(b[3:], uint32(v>>24))
	binary.LittleEndian.PutUint32(b, uint32(v))
}

// sized returns state resliced to n bytes, or new bytes where it is too short.
func sized(state []byte, n int) []byte {
	if cap(state) >= n {
		return state[:n]
	}
	return make([]byte, n)
}

// weight is that of a step which takes as many microseconds whatever its arguments: what
// Redis 7.0 counts for a decision in a batch of 200, on an ordinary machine.
func weight(us int) func(store.Args) int {
	return func(store.Args) int { return us }
}

// margin is how much longer than its window a state lives: a caller whose clock or
// connection lags must still find it. It never doubles a window.
func margin(window int64) int64 { return min(window, 1_000_000) }
