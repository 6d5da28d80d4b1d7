// Command llmproxy stands in front of a paid language model and limits tokens, not requests: a
// request takes the most that it may use, and what it did not use is given back.
//
//	go run ./examples/llmproxy --model http://localhost:9000/v1/complete
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// tokensPerMinute is what each customer may use.
var tokensPerMinute = weir.Limit{Count: 10_000, Window: time.Minute}

const (
	maxBody        = 1 << 20
	bytesPerToken  = 3 // a low guess, so that a prompt is not taken for less than it is
	refundDeadline = 2 * time.Second
)

func main() {
	model := flag.String("model", "http://localhost:9000/v1/complete", "the model's URL")
	flag.Parse()
	h, err := proxy(memory.New(nil), *model)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", h))
}

// ask is what the proxy reads of a request, and answer what it reads of the model's.
type ask struct {
	Prompt    string `json:"prompt"`
	MaxTokens int64  `json:"max_tokens"`
}

type answer struct {
	Usage struct {
		TotalTokens int64 `json:"total_tokens"`
	} `json:"usage"`
}

// proxy returns a handler that forwards to the model.
func proxy(st store.Store, model string) (http.Handler, error) {
	limiter, err := weir.New(algorithms.GCRA(nil), tokensPerMinute, st, nil)
	if err != nil {
		return nil, err
	}
	tokens := httplimit.Rule{
		Name: "tokens", Limiter: limiter,
		Key:  httplimit.Header("Authorization"),
		Cost: most,
	}
	limit, err := httplimit.New(nil, tokens)
	if err != nil {
		return nil, err
	}
	forward := func(w http.ResponseWriter, r *http.Request) {
		key, ok := tokens.KeyOf(r)
		if !ok {
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		cost := most(r)
		used := int64(0)
		defer func() {
			// Also for a client that has left, and where the model failed.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), refundDeadline)
			defer cancel()
			if _, err := limiter.Refund(ctx, key, max(0, cost-used)); err != nil {
				log.Print(err)
			}
		}()
		body, status, err := call(r, model)
		if err != nil {
			http.Error(w, "the model does not answer", http.StatusBadGateway)
			return
		}
		var a answer
		used = cost // where it does not say, all of it
		if json.Unmarshal(body, &a) == nil && a.Usage.TotalTokens > 0 {
			used = a.Usage.TotalTokens
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
	return http.MaxBytesHandler(buffered(limit(http.HandlerFunc(forward))), maxBody), nil
}

// bodyOf is the body that buffered read.
type bodyOf struct{ *bytes.Reader }

func (bodyOf) Close() error { return nil }

// buffered reads the body once, so that the limit and the model both can.
func buffered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = bodyOf{bytes.NewReader(body)}
		next.ServeHTTP(w, r)
	})
}

// most is how many tokens a request may use.
func most(r *http.Request) int64 {
	b := r.Body.(bodyOf)
	defer b.Seek(0, io.SeekStart)
	var a ask
	if err := json.NewDecoder(b).Decode(&a); err != nil {
		return 1
	}
	return max(1, int64(len(a.Prompt))/bytesPerToken+max(0, a.MaxTokens))
}

// call asks the model.
func call(r *http.Request, model string) (body []byte, status int, err error) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, model, r.Body)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return body, res.StatusCode, err
}
