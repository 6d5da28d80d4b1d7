package memcachetest

// storeMode says on which condition a storage command stores.
type storeMode int

const (
	modeSet storeMode = iota
	modeAdd
	modeReplace
	modeAppend
	modePrepend
	modeCAS
)

// outcome is how a command that writes ended, in the words of the reply.
type outcome string

const (
	outcomeStored    outcome = "STORED"
	outcomeNotStored outcome = "NOT_STORED"
	outcomeExists    outcome = "EXISTS"
	outcomeNotFound  outcome = "NOT_FOUND"
)

// store runs a storage command for an item that holds its key, value, flags and expiry; unique counts for modeCAS only.
func (e *engine) store(mode storeMode, it item, unique uint64) outcome {
	now := e.tick()
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.lookup(it.key, now)
	if old == nil {
		switch mode {
		case modeSet, modeAdd:
			e.link(&it, now)
			return outcomeStored
		case modeCAS:
			e.counters.CasMisses++
			return outcomeNotFound
		default:
			return outcomeNotStored
		}
	}

	switch mode {
	case modeAdd:
		e.use(old)
		return outcomeNotStored
	case modeCAS:
		// A unique of zero, which no item has, is a conflict too.
		if unique != old.unique {
			e.counters.CasBadval++
			return outcomeExists
		}
		e.counters.CasHits++
	case modeAppend:
		it = old.joined(old.value, it.value)
	case modePrepend:
		it = old.joined(it.value, old.value)
	}
	if it.size() > e.opts.MaxItemSize {
		return outcomeNotStored
	}
	e.link(&it, now)
	return outcomeStored
}

// joined is the item with another value; append and prepend keep the old flags and expiry.
func (it *item) joined(head, tail []byte) item {
	value := make([]byte, 0, len(head)+len(tail))
	value = append(append(value, head...), tail...)
	return item{key: it.key, value: value, flags: it.flags, expires: it.expires}
}

// countSet counts a storage command whose data has arrived, well formed or not.
func (e *engine) countSet() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counters.CmdSet++
}
