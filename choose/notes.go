package choose

import (
	"fmt"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/internal/digits"
	"github.com/weirlimits/weir/internal/footprint"
	"github.com/weirlimits/weir/store"
)

// notes are what follows from the store's traits, the plan, and how requests are charged.
func (a *Answer) notes(m footprint.Model) (all []string) {
	if a.Best == nil {
		return nil
	}
	b, w := *a.Best, a.Want
	note := func(when bool, format string, args ...any) {
		if when {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	note(!a.Within, "Nothing that runs and fits keeps to what is tolerated (%s): this is the nearest. "+
		"The bound is given up last.", w.Tolerance())

	clock := a.Store.Clock
	note(clock == store.ServerClock, "Clock: the server's, so the clocks of its clients do not matter.")
	note(clock == store.ProcessClock, "This process counts alone: with n processes a client has n times the limit. "+
		"Take a server, such as Redis, where there are more.")
	note(clock == store.CallerClock, "Clock: each caller brings its own. Keep them synchronised; "+
		"one that is ahead by d admits what d refills.")

	evicts, scripts := a.Store.Evicts, a.Store.Capabilities.Has(store.CapScript)
	note(evicts, "Eviction: the bound of %s holds unless a key is evicted, since a client whose key is dropped "+
		"starts afresh: %s more at worst, each time.", count(b.MaxInWindow), count(w.limit().Count))
	note(evicts && scripts, "Set maxmemory-policy noeviction, on an instance of its own sized by the figures above: "+
		"a full server is then an error, which you decide about, and no silent admission.")
	note(evicts && !scripts, "Give limiters a server of their own with room for %s and more, and watch its evictions: "+
		"it must stay at none.", size(a.Total(b)))

	note(w.Keys > 1, "%d keys for each request: TakeAll, or one rule for each in httplimit, asks for one after the other, "+
		"%s, and gives back what a denied request had taken. That is not atomic: until then it counts, and may deny others. "+
		"It admits more than no limit.", w.Keys, digits.Plural(b.Trips, "round trip"))
	note(w.Keys > 1, "Each key stops another attack: a key for the address stops one address that tries many accounts, "+
		"a key for the account stops many addresses that try one.")
	note(w.Keys > 1 && w.Cluster, "In a cluster these keys lie in different slots, which no script can join. "+
		"A hash tag puts them in one only where both hold it, and an address and an account share none: "+
		"one tag for all would put all on one server.")

	note(b.Plan.Spurious, "Plan %s adds first and takes back: it may deny for a moment what another request's rollback "+
		"frees. It never admits more.", b.Plan.Name)
	note(w.Cost > 1 && b.Plan.Refunds, "A request's cost may be more than it needed: Refund gives the rest back.")
	full := b.Bytes.Full * float64(w.Clients)
	note(len(w.Held) > 0 && w.Memory > 0 && full > float64(w.Memory),
		"The traffic given takes %s; if every client used its whole limit at once, %s.", size(a.Total(b)), size(full))
	what := "Speed and the errors seen were"
	if w.Seen != nil {
		what = "Speed was"
	}
	note(b.Speed.PerSecond > 0, "%s measured at %s on %s: good to compare with, and no promise.", what, m.Limit, m.Machine)
	note(b.Bytes.Partly, "Nobody measured this store: bytes are those of key and value alone, and it takes more.")
	note(!b.Bytes.Partly, "Bytes are estimates within %s, for keys of %d bytes under the prefix %q; "+
		"leave a server a quarter for itself.", digits.Percent(max(b.Bytes.Error, 0.05)), len(footprint.TypicalKey), weir.DefaultPrefix)
	return all
}
