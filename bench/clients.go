package bench

import (
	"cmp"
	"slices"
)

// Client is how one key fared.
type Client struct {
	Key      string `json:"key"`
	Requests int64  `json:"requests"`
	Denied   int64  `json:"denied"`
}

// tally counts by key.
type tally map[string]*Client

func (t tally) add(key string, allowed bool) {
	c := t[key]
	if c == nil {
		c = &Client{Key: key}
		t[key] = c
	}
	c.Requests++
	if !allowed {
		c.Denied++
	}
}

// mostDenied returns up to n clients that were denied, most first.
func (t tally) mostDenied(n int) []Client {
	var denied []Client
	for _, c := range t {
		if c.Denied > 0 {
			denied = append(denied, *c)
		}
	}
	slices.SortFunc(denied, func(a, b Client) int {
		return cmp.Or(cmp.Compare(b.Denied, a.Denied), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Key, b.Key))
	})
	return denied[:max(0, min(n, len(denied)))]
}
