package memcachetest

import (
	"fmt"
	"os"
)

// Stats are the server's counters, named as in memcached's reply to stats. All but the gauges count from the start or from
// the last stats reset.
type Stats struct {
	CurrConnections  int // gauge
	TotalConnections uint64

	CmdGet, CmdSet, CmdFlush, CmdTouch uint64

	GetHits, GetMisses, GetExpired, GetFlushed uint64
	DeleteHits, DeleteMisses                   uint64
	IncrHits, IncrMisses                       uint64
	DecrHits, DecrMisses                       uint64
	CasHits, CasMisses, CasBadval              uint64
	TouchHits, TouchMisses                     uint64
	StoreTooLarge                              uint64

	LimitMaxBytes int // gauge, Options.MaxBytes
	Bytes         int // gauge, all items as Options.MaxItemSize counts them
	CurrItems     int // gauge, dead items that nobody has asked for included
	TotalItems    uint64
	Evictions     uint64
}

func (e *engine) snapshot() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.counters
	s.CurrConnections = e.open
	s.LimitMaxBytes = e.opts.MaxBytes
	s.Bytes = e.bytes
	s.CurrItems = len(e.items)
	return s
}

func (e *engine) resetStats() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counters = Stats{}
}

func (e *engine) connected(change int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open += change
	if change > 0 {
		e.counters.TotalConnections++
	}
}

type stat struct {
	name  string
	value any
}

// generalStats is the reply to stats, in memcached's order.
func (e *engine) generalStats() []stat {
	now := e.tick()
	s := e.snapshot()
	return []stat{
		{"pid", os.Getpid()},
		{"uptime", now - firstTick},
		{"time", now + e.zero()},
		{"version", Version},
		{"curr_connections", s.CurrConnections},
		{"total_connections", s.TotalConnections},
		{"cmd_get", s.CmdGet},
		{"cmd_set", s.CmdSet},
		{"cmd_flush", s.CmdFlush},
		{"cmd_touch", s.CmdTouch},
		{"get_hits", s.GetHits},
		{"get_misses", s.GetMisses},
		{"get_expired", s.GetExpired},
		{"get_flushed", s.GetFlushed},
		{"delete_misses", s.DeleteMisses},
		{"delete_hits", s.DeleteHits},
		{"incr_misses", s.IncrMisses},
		{"incr_hits", s.IncrHits},
		{"decr_misses", s.DecrMisses},
		{"decr_hits", s.DecrHits},
		{"cas_misses", s.CasMisses},
		{"cas_hits", s.CasHits},
		{"cas_badval", s.CasBadval},
		{"touch_hits", s.TouchHits},
		{"touch_misses", s.TouchMisses},
		{"store_too_large", s.StoreTooLarge},
		{"limit_maxbytes", s.LimitMaxBytes},
		{"bytes", s.Bytes},
		{"curr_items", s.CurrItems},
		{"total_items", s.TotalItems},
		{"evictions", s.Evictions},
	}
}

// settings is the reply to stats settings: those of memcached's settings that mean something here.
func (e *engine) settings() []stat {
	return []stat{
		{"maxbytes", e.opts.MaxBytes},
		{"evictions", "on"},
		{"cas_enabled", "yes"},
		{"item_size_max", e.opts.MaxItemSize},
		{"flush_enabled", "yes"},
	}
}

// stats answers stats, stats settings and stats reset. The other kinds tell of slabs, which are not here.
func (s *session) stats(args [][]byte) error {
	if len(args) == 1 {
		s.writeStats(s.engine.generalStats())
		return nil
	}
	switch string(args[1]) {
	case "settings":
		s.writeStats(s.engine.settings())
	case "reset":
		s.engine.resetStats()
		s.reply("RESET")
	default:
		s.reply(replyError)
	}
	return nil
}

func (s *session) writeStats(stats []stat) {
	for _, st := range stats {
		fmt.Fprintf(s.out, "STAT %s %v\r\n", st.name, st.value)
	}
	s.reply("END")
}
