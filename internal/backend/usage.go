package backend

import (
	"context"
	"strconv"
	"strings"
)

// Usage is what a server counted of the work that it did.
type Usage struct {
	// Trips are requests that were sent together and answered together. On Redis it is the
	// fewer of the server's reads and writes, on memcached its commands, where several keys
	// in one get are one.
	Trips int64
	// Commands are those that decisions are made of, those within scripts included.
	Commands int64
	// ServerUS is how many microseconds Redis spent in them. Memcached does not tell: zero.
	ServerUS int64
	// In and Out are the bytes that the server received and sent.
	In, Out int64
}

// Usage runs work and returns what the server counted meanwhile. What the counting
// itself costs is measured before, and left out. On a shared server the work of others
// is in it.
//
// The error is work's, or [ErrNotCounted] in this process and for stand-ins, where work
// does not run.
func (b *Backend) Usage(ctx context.Context, work func() error) (Usage, error) {
	if b.Kind == KindMemory || b.StandIn != "" {
		return Usage{}, ErrNotCounted
	}
	before, err := b.house.usage(ctx)
	if err != nil {
		return Usage{}, b.failed("reading what was used", err)
	}
	before, own, _, err := b.settled(ctx, before)
	if err != nil {
		return Usage{}, err
	}
	if err := work(); err != nil {
		return Usage{}, err
	}
	after, err := b.house.usage(ctx)
	if err != nil {
		return Usage{}, b.failed("reading what was used", err)
	}
	used := after.since(before).less(own)
	_, _, late, err := b.settled(ctx, after)
	return used.plus(late).used(), err
}

// settleReadings is how often a server is asked at most until it has counted everything.
const settleReadings = 10

// settled reads until a reading costs what one before it did. A server with several threads
// answers before it counts the answer, so more may come late: what came after last is in late,
// without the readings themselves.
func (b *Backend) settled(ctx context.Context, last reading) (now, own, late reading, err error) {
	var costs []reading
	for len(costs) < settleReadings {
		now, err = b.house.usage(ctx)
		if err != nil {
			return now, own, late, b.failed("reading what was used", err)
		}
		own = now.since(last)
		last = now
		costs = append(costs, own)
		if n := len(costs); n > 1 && own.In == costs[n-2].In && own.Out-costs[n-2].Out <= digits && costs[n-2].Out-own.Out <= digits {
			break
		}
	}
	for _, c := range costs {
		late = late.plus(c.less(own))
	}
	return now, own, late, nil
}

// digits is by how much the lengths of two answers may be misjudged: numbers grow.
const digits = 8

// reading is what a server had counted when it was asked.
type reading struct {
	Usage
	scriptUS int64 // of ServerUS, within scripts, where the commands that these call are counted twice
	reply    int64 // bytes of the answer itself, which are in the next reading's Out
}

// since returns what came after r. The digits of a reply change, so its length is taken off.
func (r reading) since(before reading) reading {
	return reading{
		Usage: Usage{
			Trips: r.Trips - before.Trips, Commands: r.Commands - before.Commands, ServerUS: r.ServerUS - before.ServerUS,
			In: r.In - before.In, Out: r.Out - before.Out - before.reply,
		},
		scriptUS: r.scriptUS - before.scriptUS,
	}
}

func (r reading) less(o reading) reading {
	return reading{
		Usage: Usage{
			Trips: r.Trips - o.Trips, Commands: r.Commands - o.Commands, ServerUS: r.ServerUS - o.ServerUS,
			In: r.In - o.In, Out: r.Out - o.Out,
		},
		scriptUS: r.scriptUS - o.scriptUS,
	}
}

func (r reading) plus(o reading) reading { return r.less(reading{}.less(o)) }

func (r reading) used() Usage {
	if r.scriptUS > 0 {
		r.ServerUS = r.scriptUS
	}
	return r.Usage
}

// aside are Redis commands that no decision is made of.
var aside = map[string]bool{
	"info": true, "ping": true, "hello": true, "auth": true, "select": true, "client": true,
	"command": true, "config": true, "cluster": true, "readonly": true, "memory": true,
}

func (h *redisHouse) usage(ctx context.Context) (r reading, err error) {
	stats, err := h.info(ctx, "stats")
	if err != nil {
		return r, err
	}
	for _, node := range stats {
		var n [4]int64
		for i, name := range []string{"total_reads_processed", "total_writes_processed", "total_net_input_bytes", "total_net_output_bytes"} {
			if n[i], err = number(node, name); err != nil {
				return r, err
			}
		}
		r.Trips += min(n[0], n[1])
		r.In += n[2]
		r.Out += n[3]
		r.reply += infoLength(node)
	}
	commands, err := h.info(ctx, "commandstats")
	for _, node := range commands {
		r.reply += infoLength(node)
		for name, stat := range node {
			name, _, _ = strings.Cut(strings.TrimPrefix(name, "cmdstat_"), "|")
			if aside[name] {
				continue
			}
			r.Commands += part(stat, "calls")
			us := part(stat, "usec")
			r.ServerUS += us
			if name == "eval" || name == "evalsha" {
				r.scriptUS += us
			}
		}
	}
	return r, err
}

// part reads one of "calls=1,usec=2,...", zero where it is not there.
func part(stat, name string) int64 {
	for field := range strings.SplitSeq(stat, ",") {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}

// infoLength is by what the lines of an answer to INFO add to its length.
func infoLength(fields map[string]string) (n int64) {
	for name, value := range fields {
		n += int64(len(name) + len(value) + len(":\r\n"))
	}
	return n
}

func (h *memcacheHouse) usage(ctx context.Context) (r reading, err error) {
	for _, addr := range h.addrs {
		stats, err := askStats(ctx, addr, "stats")
		if err != nil {
			return r, err
		}
		for _, c := range []struct {
			sum   *int64
			names []string
		}{
			{&r.Commands, []string{"cmd_get", "cmd_set", "cmd_touch", "incr_hits", "incr_misses", "decr_hits", "decr_misses"}},
			{&r.In, []string{"bytes_read"}},
			{&r.Out, []string{"bytes_written"}},
		} {
			for _, name := range c.names {
				n, err := number(stats, name)
				if err != nil {
					return r, err
				}
				*c.sum += n
			}
		}
		for name, value := range stats {
			r.reply += int64(len(name) + len(value) + len("STAT  \r\n"))
		}
	}
	r.Trips = r.Commands - h.keys.beside.Load()
	return r, nil
}

func (process) usage(context.Context) (reading, error) { return reading{}, ErrNotCounted }
