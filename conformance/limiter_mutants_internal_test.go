package conformance

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/store"
)

// limiterMutants are the faults of an algorithm, and the rules meant for them.
var limiterMutants = []struct{ fault, rule string }{
	{closedWindow, "retry"},
	{oneTooMany, "guarantee"},
	{countsFirst, "guarantee"},
	{understates, "guarantee"},
	{otherStep, "step"},
	{otherRefunds, "step"},
	{looksFirst, "concurrent"},
	{looksFirst, "linearizable"},
	{oneTooMany, "concurrent"},
	{admitsCrowds, "concurrent"},
	{peeksOld, "linearizable"},
	{admitsByOwn, "own-time"},
	{retryOfNewest, "retry"},
	{retryOfOne, "retry"},
	{retryTooSoon, "retry"},
	{recordsDenied, "denied"},
	{deniedShows, "denied"},
	{peekRecords, "peek"},
	{peekTrims, "peek"},
	{peekDenied, "peek"},
	{overCapacity, "never"},
	{neverAll, "never"},
	{resetElsewhere, "reset"},
	{deniesLocally, "reset"},
	{refundsNothing, "refund"},
	{refundsTwice, "refund"},
	{firstLimit, "limit-change"},
	{forgetsOnChange, "limit-change"},
	{trustsBack, "clock-steps"},
	{neverForgives, "future"},
	{mergesKeys, "keys"},
	{dropsPrefix, "keys"},
	{twoSlots, "slot"},
	{looksTwice, "trips"},
	{errorAllows, "error"},
	{readsAnything, "error"},
	{livesLong, "ttl"},
	{declaresWeeks, "ttl"},
}

// counterPlanMutants break the store under a plan that adds first and gives back.
var counterPlanMutants = []storeMutant{
	{"a rollback that meets an addition is lost", "linearizable", Fail, func(f *faulty) {
		var adding atomic.Int64
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			if delta > 0 {
				adding.Add(1)
				defer adding.Add(-1)
				n, err := f.inner.Add(ctx, key, delta, ttl)
				linger(func() bool { return false })
				return n, err
			}
			if linger(func() bool { return adding.Load() > 0 }); adding.Load() > 0 {
				delta = 0
			}
			return f.inner.Add(ctx, key, delta, ttl)
		}
	}},
	{"a rollback is lost", "step", Fail, func(f *faulty) {
		f.add = func(ctx context.Context, key string, delta int64, ttl time.Duration) (int64, error) {
			return f.inner.Add(ctx, key, max(delta, 0), ttl)
		}
	}},
	{"additions that meet are lost", "concurrent", Fail, losesAdditions(2)},
}

// A failing history is short, and shows what no order explains.
func TestConcurrentFailuresAreShort(t *testing.T) {
	for _, fault := range []string{looksFirst, peeksOld} {
		r := tryOne(t, "log/script/linearizable", []weir.Algorithm{newBrokenLog(fault)}, sound)
		require.Equal(t, Fail, r.Status, fault)
		require.Contains(t, r.Detail, "no order of these calls", fault)
		require.LessOrEqual(t, len(r.History), 12, "%s", r)
		require.Contains(t, r.String(), "Take(k")
	}
}

func TestLimiterMutantsAreCaught(t *testing.T) {
	t.Parallel()
	table := killTable{one: func(t *testing.T, rule string) Result {
		return tryOne(t, "log/script/"+rule, []weir.Algorithm{newBrokenLog("")}, sound)
	}}
	for _, r := range limiterRules {
		table.checks = append(table.checks, r.name)
	}
	for _, m := range limiterMutants {
		table.mutants = append(table.mutants, mutant{m.fault, m.rule, Fail, func(t *testing.T, rule string) Result {
			return tryOne(t, "log/script/"+rule, []weir.Algorithm{newBrokenLog(m.fault)}, sound)
		}})
	}
	for _, m := range counterPlanMutants {
		table.mutants = append(table.mutants, mutant{m.name, m.check, m.want, func(t *testing.T, rule string) Result {
			return tryOne(t, "fixed-window/counter/"+rule, []weir.Algorithm{algorithms.FixedWindow()}, func(f *faulty) store.Store {
				m.wreck(f)
				return f
			})
		}})
	}
	table.fill(t)
}
