// Command chi limits a chi router: all requests by address, and searches also by account, at a higher
// price.
//
//	go run . # in examples/chi
//	curl -i http://localhost:8080/books
package main

import (
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

func main() {
	h, err := router(memory.New(nil))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", h))
}

func router(st store.Store) (http.Handler, error) {
	limiter, err := weir.New(algorithms.GCRA(nil), weir.Limit{Count: 10, Window: time.Minute}, st, nil)
	if err != nil {
		return nil, err
	}
	all, err := httplimit.New(nil, httplimit.Rule{Name: "all", Limiter: limiter})
	if err != nil {
		return nil, err
	}
	search, err := httplimit.New(nil, httplimit.Rule{
		Name: "search", Limiter: limiter,
		Key:  func(r *http.Request) (string, bool) { return chi.URLParam(r, "account"), true },
		Cost: func(*http.Request) int64 { return 5 },
	})
	if err != nil {
		return nil, err
	}
	r := chi.NewRouter()
	r.Use(all)
	r.Get("/books", say("books"))
	r.With(search).Get("/{account}/search", say("found"))
	return r, nil
}

func say(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, s) }
}
