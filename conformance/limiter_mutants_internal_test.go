package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// limiterMutants are the faults of an algorithm, and the rules meant for them.
var limiterMutants = []struct{ fault, rule string }{
	{closedWindow, "retry"},
	{oneTooMany, "guarantee"},
	{countsFirst, "guarantee"},
	{understates, "guarantee"},
	{otherStep, "step"},
	{looksFirst, "concurrent"},
	{oneTooMany, "concurrent"},
	{admitsByOwn, "own-time"},
	{retryOfNewest, "retry"},
	{retryTooSoon, "retry"},
	{recordsDenied, "denied"},
	{peekRecords, "peek"},
	{peekTrims, "peek"},
	{overCapacity, "never"},
	{resetElsewhere, "reset"},
	{refundsNothing, "refund"},
	{refundsTwice, "refund"},
	{firstLimit, "limit-change"},
	{forgetsOnChange, "limit-change"},
	{trustsBack, "clock-steps"},
	{neverForgives, "future"},
	{mergesKeys, "keys"},
	{dropsPrefix, "keys"},
	{twoSlots, "slot"},
	{errorAllows, "error"},
	{readsAnything, "error"},
	{livesLong, "ttl"},
}

func TestLimiterMutantsAreCaught(t *testing.T) {
	plain := func(f *faulty) store.Store { return f }
	for _, r := range limiterRules {
		require.Equal(t, Pass, tryOne(t, "log/script/"+r.name, []weir.Algorithm{brokenLog{}}, plain).Status, r.name)
	}
	var table killTable
	aimedAt := map[string]bool{}
	for _, m := range limiterMutants {
		t.Run(m.rule+"/"+m.fault, func(t *testing.T) {
			r := tryOne(t, "log/script/"+m.rule, []weir.Algorithm{brokenLog{m.fault}}, plain)
			table.add(m.fault, r)
			require.Equal(t, Fail, r.Status, "survived: %s", r)
		})
		aimedAt[m.rule] = true
	}
	table.print(t)
	for _, r := range limiterRules {
		require.True(t, aimedAt[r.name], "no mutant proves that the rule %q can fail", r.name)
	}
}
