package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/weirlimits/weir/store"
)

var storeChecks = []check{
	{
		name: "store/delete", rule: "Delete removes keys of whatever kind; missing keys, and none at all, are no error",
		run: deletes,
	},
	{
		name: "store/cancelled", rule: "a context that is done gives its own error, from every method, and does nothing",
		run: cancelled,
	},
	{
		name: "store/closed", rule: "after Close every method returns ErrClosed, and a second Close does nothing",
		run: closed,
	},
}

// method is a method of the store, on a key of its own.
type method struct {
	name string
	call func(ctx context.Context, st store.Store, key string) error
}

// methods returns every method that the store has and that is not to be left out.
func (p *probe) methods(st store.Store) []method {
	all := []method{{"Delete", func(ctx context.Context, st store.Store, key string) error { return st.Delete(ctx, key) }}}
	add := func(name string, call func(ctx context.Context, st store.Store, key string) error) {
		all = append(all, method{name, call})
	}
	if _, ok := st.(store.Counter); ok {
		add("Add", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.Counter).Add(ctx, key, 1, time.Minute)
			return err
		})
		add("Read", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.Counter).Read(ctx, key)
			return err
		})
	}
	if _, ok := st.(store.Swapper); ok {
		add("Swap", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.Swapper).Swap(ctx, key, "", []byte("1"), time.Minute)
			return err
		})
		add("Load", func(ctx context.Context, st store.Store, key string) error {
			_, _, err := st.(store.Swapper).Load(ctx, key)
			return err
		})
	}
	if _, ok := st.(store.List); ok {
		add("PushFront", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.List).PushFront(ctx, key, time.Minute, "1")
			return err
		})
		add("Trim", func(ctx context.Context, st store.Store, key string) error {
			return st.(store.List).Trim(ctx, key, 0, 0)
		})
		add("Index", func(ctx context.Context, st store.Store, key string) error {
			_, _, err := st.(store.List).Index(ctx, key, 0)
			return err
		})
		add("Len", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.List).Len(ctx, key)
			return err
		})
	}
	if _, ok := st.(store.SortedSet); ok {
		add("AddMembers", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.SortedSet).AddMembers(ctx, key, time.Minute, store.Member{Score: 1, Name: "1"})
			return err
		})
		add("RemoveUpTo", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.SortedSet).RemoveUpTo(ctx, key, 0)
			return err
		})
		add("Card", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.SortedSet).Card(ctx, key)
			return err
		})
		add("Range", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.SortedSet).Range(ctx, key, 0, -1)
			return err
		})
	}
	if _, ok := st.(store.Scripter); ok {
		add("Run", func(ctx context.Context, st store.Store, key string) error {
			p.remember(key + "/k")
			runner, err := st.(store.Scripter).Prepare(sumStep, key+"/")
			if err == nil {
				_, err = runner.Run(ctx, "k", sumArgs(1, time.Minute))
			}
			return err
		})
	}
	if _, ok := st.(store.Clock); ok {
		add("Now", func(ctx context.Context, st store.Store, _ string) error {
			_, err := st.(store.Clock).Now(ctx)
			return err
		})
	}
	if _, ok := p.footprint(); ok {
		add("Size", func(ctx context.Context, st store.Store, key string) error {
			_, err := st.(store.Footprint).Size(ctx, key)
			return err
		})
	}
	return all
}

func deletes(ctx context.Context, p *probe) error {
	if err := p.st.Delete(ctx); err != nil {
		return failf("Delete of no keys gives %v", err)
	}
	if err := p.st.Delete(ctx, p.key("never there"), p.key("nor this")); err != nil {
		return failf("Delete of missing keys gives %v", err)
	}
	var keys []string
	for _, m := range p.methods(p.st) {
		key := p.key("by " + m.name)
		if err := m.call(ctx, p.st, key); err != nil {
			return err
		}
		if m.name == "Run" {
			key += "/k"
		}
		keys = append(keys, key)
	}
	if err := p.st.Delete(ctx, append(keys, p.key("never there"))...); err != nil {
		return failf("Delete of keys of every kind gives %v", err)
	}
	for _, key := range keys {
		there, err := p.exists(ctx, key)
		if err != nil {
			return err
		}
		if there {
			return failf("the key %s is there after Delete", quoted(key))
		}
	}
	return nil
}

func cancelled(ctx context.Context, p *probe) error {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	late, cancelLate := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancelLate()
	for _, m := range p.methods(p.st) {
		key := p.key("by " + m.name)
		for _, c := range []struct {
			ctx  context.Context
			want error
		}{{gone, context.Canceled}, {late, context.DeadlineExceeded}} {
			if err := m.call(c.ctx, p.st, key); !errors.Is(err, c.want) {
				return failf("%s with a context that is done gives %v: want %v", m.name, err, c.want)
			}
		}
		if m.name == "Run" {
			key += "/k"
		}
		there, err := p.exists(ctx, key)
		switch v := verdictOf(err); {
		case v != nil && v.status == Unsupported:
		case err != nil:
			return err
		case there:
			return failf("%s with a context that is done wrote its key", m.name)
		}
	}
	return nil
}

func closed(ctx context.Context, p *probe) error {
	st, err := p.suite.cfg.Open(ctx)
	if err != nil {
		return err
	}
	all := p.methods(st)
	for _, m := range all { // used once, so that there is something to close
		if err := m.call(ctx, st, p.key("by "+m.name)); err != nil {
			return errors.Join(err, st.Close())
		}
	}
	var runner store.Runner
	if scripter, ok := st.(store.Scripter); ok {
		if runner, err = scripter.Prepare(sumStep, p.key("prepared/")); err != nil {
			return errors.Join(err, st.Close())
		}
	}
	for range 2 {
		if err := st.Close(); err != nil {
			return failf("Close gives %v", err)
		}
	}
	for _, m := range all {
		if err := m.call(ctx, st, p.key("by "+m.name)); !errors.Is(err, store.ErrClosed) {
			return failf("%s after Close gives %v: want ErrClosed", m.name, err)
		}
	}
	if runner != nil {
		if _, err := runner.Run(ctx, "k", sumArgs(1, time.Minute)); !errors.Is(err, store.ErrClosed) {
			return failf("Run after Close gives %v: want ErrClosed", err)
		}
	}
	return nil
}
