package httplimit_test

import (
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store/memory"
)

// A hundred requests a minute for each client's address.
func Example() {
	st := memory.New(nil) // or redis.Open(url, nil), or memcache.Open(servers, nil)
	limiter, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 100, Window: time.Minute}, st, nil)
	if err != nil {
		log.Fatal(err) // names what the store lacks, or the field that is wrong
	}
	limit, err := httplimit.New(nil, httplimit.Rule{Name: "api", Limiter: weir.FailOpen(limiter, nil)})
	if err != nil {
		log.Fatal(err)
	}
	hello := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }
	log.Fatal(http.ListenAndServe("localhost:8080", limit(http.HandlerFunc(hello))))
}
