// Command nethttp is a server that admits 100 requests a minute from each client's address.
//
//	go run ./examples/nethttp --limit 5/10s
//	curl -i http://localhost:8080/
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store/memory"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "where to listen")
	limit := flag.String("limit", "100/min", "the limit of each client")
	flag.Parse()
	h, err := server(*limit)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(*addr, h))
}

// server greets, and limits whom it greets.
func server(s string) (http.Handler, error) {
	l, err := weir.ParseLimit(s)
	if err != nil {
		return nil, err
	}
	limiter, err := weir.New(algorithms.GCRA(nil), l, memory.New(nil), nil)
	if err != nil {
		return nil, err
	}
	limit, err := httplimit.New(nil, httplimit.Rule{Name: "api", Limiter: limiter})
	if err != nil {
		return nil, err
	}
	return limit(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	})), nil
}
