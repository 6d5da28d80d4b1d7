package footprint

import "math"

// Redis returns what an item takes in Redis beside the key table's own entries: the key, and the value, a
// string. jemalloc has four sizes for each doubling.
func Redis(i Item) float64 {
	const object, embedded = 16, 44 // bytes of an object's head, and of the longest string that is one piece with it
	switch {
	case i.Number:
		return RedisKey(i) + object
	case i.Value <= embedded:
		return RedisKey(i) + jemalloc(object+text(i.Value))
	default:
		return RedisKey(i) + object + jemalloc(text(i.Value))
	}
}

// RedisKey is the part of the key alone.
func RedisKey(i Item) float64 { return jemalloc(text(float64(i.Name))) }

// text is a string with its head and its final zero.
func text(n float64) float64 {
	switch {
	case n < 1<<8:
		return 3 + n + 1
	case n < 1<<16:
		return 5 + n + 1
	default:
		return 9 + n + 1
	}
}

func jemalloc(n float64) float64 {
	if n <= 128 {
		return math.Ceil(n/16) * 16
	}
	step := math.Exp2(math.Ceil(math.Log2(n))) / 8
	return math.Ceil(n/step) * step
}

// Memcached returns the chunk that an item takes: each size is a quarter more than the one before.
func Memcached(i Item) float64 {
	const (
		head     = 48 + 8          // of an item with its CAS id
		smallest = 96              // chunk
		largest  = 512 << 10       // above it an item is a chain of such
		factor   = 1.25            // memcached's own default
		between  = 1 + len("\r\n") // the key's end, and the value's
		align    = 8               // of chunks
	)
	n := head + float64(i.Name) + i.Value + float64(between)
	if n > largest {
		return math.Ceil(n/largest) * largest
	}
	chunk := float64(smallest)
	for chunk < n {
		chunk = math.Ceil(math.Floor(chunk*factor)/align) * align
	}
	return chunk
}

// Memory returns what the store of this process takes.
func Memory(i Item) float64 { return i.InMemory }

// Plain is all that is known of another store: the key and the value.
func Plain(i Item) float64 { return float64(i.Name) + i.Value }

// Sum adds up what all items of a client take, beside overhead for each.
func Sum(items []Item, allocate func(Item) float64, overhead float64) (sum float64) {
	for _, i := range items {
		sum += overhead + allocate(i)
	}
	return sum
}

// Curve is bytes by the number of requests held, in ascending order of those.
type Curve []Point

// Point is what was measured of one number of requests.
type Point struct {
	Requests int64   `json:"requests"`
	Bytes    float64 `json:"bytes"`
}

// At interpolates, straight between two points: a compact form that becomes a larger one shows as two
// neighbouring points. Beyond the last it goes on at the last one's bytes for each request.
func (c Curve) At(n int64) float64 {
	for i, p := range c {
		switch {
		case n == p.Requests || n < p.Requests && i == 0:
			return p.Bytes
		case n < p.Requests:
			a := c[i-1]
			return a.Bytes + (p.Bytes-a.Bytes)*float64(n-a.Requests)/float64(p.Requests-a.Requests)
		}
	}
	if len(c) == 0 {
		return 0
	}
	last := c[len(c)-1]
	return last.Bytes * float64(n) / float64(last.Requests)
}

// Allocators are what a store takes for an item, by the name in its traits.
var Allocators = map[string]func(Item) float64{"redis": Redis, "memcache": Memcached, "memory": Memory}
