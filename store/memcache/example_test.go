package memcache_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/weirlimits/weir/store/memcache"
	"github.com/weirlimits/weir/store/memcache/memcachetest"
)

func Example() {
	server, err := memcachetest.Start(nil) // or your own memcached
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	s, err := memcache.Open([]string{server.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	ctx := context.Background()
	for range 3 {
		n, err := s.Add(ctx, "logins:203.0.113.7", 1, time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(n)
	}
	fmt.Println(s.Traits().Class(), "or, if you say so,", s.CounterOnly().Traits().Class())
	// Output:
	// 1
	// 2
	// 3
	// CAS or, if you say so, INCR-only
}
