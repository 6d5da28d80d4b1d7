// Command login protects a login form: 20 tries in 15 minutes from each address, so that one
// client cannot try many accounts, and 5 for each account, so that many clients cannot
// try one. A try that either denies counts in neither, and who gets in starts afresh.
//
//	go run ./examples/login
//	curl -i -d account=alice -d password=guess http://localhost:8080/login
package main

import (
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

const window = 15 * time.Minute

func main() {
	h, err := server(memory.New(nil), func(account, password string) bool {
		return account == "alice" && password == "correct horse"
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", h))
}

// server has one page, and asks check who may enter.
func server(st store.Store, check func(account, password string) bool) (http.Handler, error) {
	perAddress, err := weir.New(algorithms.PackedLog(nil), weir.Limit{Count: 20, Window: window}, st, nil)
	if err != nil {
		return nil, err
	}
	perAccount, err := weir.New(algorithms.PackedLog(nil), weir.Limit{Count: 5, Window: window}, st, nil)
	if err != nil {
		return nil, err
	}
	account := httplimit.Rule{
		Name: "account", Limiter: perAccount,
		Key: func(r *http.Request) (string, bool) { return accountOf(r), true },
	}
	limit, err := httplimit.New(nil, httplimit.Rule{Name: "address", Limiter: perAddress}, account)
	if err != nil {
		return nil, err
	}
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !check(accountOf(r), r.PostFormValue("password")) {
			http.Error(w, "wrong account or password", http.StatusUnauthorized)
			return
		}
		if key, ok := account.KeyOf(r); ok {
			if err := perAccount.Reset(r.Context(), key); err != nil {
				log.Print(err)
			}
		}
		fmt.Fprintln(w, "welcome")
	})
	mux := http.NewServeMux()
	mux.Handle("POST /login", http.MaxBytesHandler(limit(login), 4096))
	return mux, nil
}

// accountOf is the account of a try, however it is written.
func accountOf(r *http.Request) string {
	return strings.ToLower(strings.TrimSpace(r.PostFormValue("account")))
}
