package memcachetest_test

import (
	"fmt"
	"time"

	gomemcache "github.com/bradfitz/gomemcache/memcache"

	"github.com/weirlimits/weir/store/memcache/memcachetest"
)

func Example() {
	clock := memcachetest.NewClock(time.Now())
	server, err := memcachetest.Start(&memcachetest.Options{Now: clock.Now})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client := gomemcache.New(server.Addr())
	defer client.Close()

	if err := client.Set(&gomemcache.Item{Key: "session", Value: []byte("alice"), Expiration: 60}); err != nil {
		fmt.Println(err)
	}
	_, err = client.Get("session")
	fmt.Println("now:", err)
	clock.Advance(time.Minute)
	_, err = client.Get("session")
	fmt.Println("a minute later:", err)
	fmt.Println("hits and misses:", server.Stats().GetHits, server.Stats().GetMisses)
	// Output:
	// now: <nil>
	// a minute later: memcache: cache miss
	// hits and misses: 1 1
}
