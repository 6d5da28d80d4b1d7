package httplimit

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/weirlimits/weir"
)

// StatusClientLeft is the status of a request whose context was cancelled before there was
// a decision. It is nginx's "client closed request", which no client sees: a handler that
// writes nothing has answered 200, and logs and metrics would count a success, 503 a failure.
const StatusClientLeft = 499

// quotaExceeded is the problem type that the draft of the RateLimit fields registers.
const quotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded"

// problem is a problem document after RFC 9457.
type problem struct {
	Type     string   `json:"type"`
	Title    string   `json:"title"`
	Status   int      `json:"status"`
	Detail   string   `json:"detail,omitempty"`
	Violated []string `json:"violated-policies,omitempty"`
}

func (p problem) write(w http.ResponseWriter) {
	body, _ := json.Marshal(p) // of strings and a number: it cannot fail
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Del("Content-Length")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n')) // a client that is gone needs no answer
}

func writeDenied(w http.ResponseWriter, _ *http.Request, d Denial) {
	detail := "This request is larger than the limit allows at once."
	if wait := d.Decision.RetryAfter; wait != weir.Never {
		detail = fmt.Sprintf("Try again in %v.", time.Duration(max(1, seconds(wait)))*time.Second)
	}
	problem{
		Type: quotaExceeded, Title: "Request cannot be satisfied as assigned quota has been exceeded",
		Status: http.StatusTooManyRequests, Detail: detail, Violated: d.Rules,
	}.write(w)
}

// writeFailed does not tell clients what failed. A wrong cost is the server's mistake.
func writeFailed(w http.ResponseWriter, _ *http.Request, err error) {
	status := http.StatusServiceUnavailable
	if wrong := new(weir.FieldError); errors.As(err, &wrong) {
		status = http.StatusInternalServerError
		w.Header().Del("Retry-After")
	}
	problem{Type: "about:blank", Title: http.StatusText(status), Status: status}.write(w)
}

func writeBlocked(w http.ResponseWriter, _ *http.Request) {
	problem{
		Type: "about:blank", Title: http.StatusText(http.StatusForbidden), Status: http.StatusForbidden,
	}.write(w)
}
