package httplimit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/httplimit"
	"github.com/weirlimits/weir/store/memory"
)

// world is a store in this process with a clock that the test moves.
type world struct {
	t   *testing.T
	st  *memory.Store
	now time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.st = memory.New(&memory.Options{Clock: func() time.Time { return w.now }})
	t.Cleanup(func() { require.NoError(t, w.st.Close()) })
	return w
}

func (w *world) limiter(a weir.Algorithm, limit string) *weir.Weir {
	w.t.Helper()
	l, err := weir.ParseLimit(limit)
	require.NoError(w.t, err)
	limiter, err := weir.New(a, l, w.st, nil)
	require.NoError(w.t, err)
	return limiter
}

func (w *world) firstHit(limit string) *weir.Weir {
	return w.limiter(algorithms.FixedWindowFirstHit(), limit)
}

// handler is a server that answers 200 to what the rules admit.
func handler(t *testing.T, opts *httplimit.Options, rules ...httplimit.Rule) http.Handler {
	t.Helper()
	limit, err := httplimit.New(opts, rules...)
	require.NoError(t, err)
	return limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

// get asks h once, from an address, with pairs of header names and values.
func get(h http.Handler, from string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = from
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}

// RL-115: Retry-After is the true wait, not the window.
func TestRL115RetryAfterIsTheTrueWait(t *testing.T) {
	w := newWorld(t)
	h := handler(t, nil, httplimit.Rule{Name: "api", Limiter: w.firstHit("10/min")})
	for range 10 {
		require.Equal(t, 200, get(h, "203.0.113.9:1").StatusCode)
		w.now = w.now.Add(2 * time.Second)
	}
	res := get(h, "203.0.113.9:1")
	require.Equal(t, 429, res.StatusCode)
	require.Equal(t, "40", res.Header.Get("Retry-After"))
	w.now = w.now.Add(40 * time.Second)
	require.Equal(t, 200, get(h, "203.0.113.9:1").StatusCode, "waiting exactly that long is enough")
}

// RL-116: Retry-After is rounded up, is at least 1, and never is below zero.
func TestRL116RetryAfterRoundsUp(t *testing.T) {
	for left, want := range map[time.Duration]string{
		9200 * time.Millisecond: "10", 400 * time.Millisecond: "1", 100 * time.Microsecond: "1",
	} {
		w := newWorld(t)
		h := handler(t, nil, httplimit.Rule{Name: "api", Limiter: w.firstHit("1/10s")})
		require.Equal(t, 200, get(h, "203.0.113.9:1").StatusCode)
		w.now = w.now.Add(10*time.Second - left)
		res := get(h, "203.0.113.9:1")
		require.Equal(t, 429, res.StatusCode)
		require.Equal(t, want, res.Header.Get("Retry-After"), "%v left", left)
		seconds, err := strconv.Atoi(want)
		require.NoError(t, err)
		w.now = w.now.Add(time.Duration(seconds) * time.Second)
		require.Equal(t, 200, get(h, "203.0.113.9:1").StatusCode)
		w.now = w.now.Add(time.Hour)
		res = get(h, "203.0.113.9:1")
		require.Equal(t, []string{`"api";r=0;t=10`}, res.Header.Values("RateLimit"))
	}
}

// RL-117: nothing below zero, and no Retry-After on what is admitted.
func TestRL117NoRetryAfterOnAdmitted(t *testing.T) {
	w := newWorld(t)
	h := handler(t, &httplimit.Options{XRateLimit: true}, httplimit.Rule{Name: "api", Limiter: w.firstHit("2/min")})
	for _, remaining := range []string{"1", "0"} {
		res := get(h, "203.0.113.9:1")
		require.Equal(t, 200, res.StatusCode)
		require.Empty(t, res.Header.Values("Retry-After"))
		require.Equal(t, []string{`"api";r=` + remaining + `;t=60`}, res.Header.Values("RateLimit"))
		require.Equal(t, []string{`"api";q=2;w=60`}, res.Header.Values("RateLimit-Policy"))
		require.Equal(t, []string{"2"}, res.Header.Values("X-RateLimit-Limit"))
		require.Equal(t, []string{remaining}, res.Header.Values("X-RateLimit-Remaining"))
		require.Equal(t, []string{"60"}, res.Header.Values("X-RateLimit-Reset"))
	}
}

// RL-116, RL-117: whatever the algorithm and the moment, waiting as told is enough, and no field is
// below zero.
func TestRL116RL117FieldsComeTrue(t *testing.T) {
	for _, a := range algorithms.All() {
		t.Run(a.Name(), func(t *testing.T) {
			w := newWorld(t)
			h := handler(t, &httplimit.Options{XRateLimit: true}, httplimit.Rule{Name: "api", Limiter: w.limiter(a, "7/10s")})
			random := rand.New(rand.NewPCG(116, 117))
			denied := 0
			for range 500 {
				res := get(h, "203.0.113.9:1")
				for _, name := range []string{"X-RateLimit-Remaining", "X-RateLimit-Reset"} {
					n, err := strconv.Atoi(res.Header.Get(name))
					require.NoError(t, err)
					require.GreaterOrEqual(t, n, 0, name)
				}
				if res.StatusCode == 200 {
					require.Empty(t, res.Header.Values("Retry-After"))
				} else {
					denied++
					wait, err := strconv.Atoi(res.Header.Get("Retry-After"))
					require.NoError(t, err)
					require.Positive(t, wait)
					w.now = w.now.Add(time.Duration(wait) * time.Second)
					require.Equal(t, 200, get(h, "203.0.113.9:1").StatusCode, "waiting exactly that long is enough")
				}
				w.now = w.now.Add(time.Duration(random.Int64N(1_500_000)) * time.Microsecond)
			}
			require.Greater(t, denied, 20)
		})
	}
}

// RL-119: one value in each field, the strictest, also where middlewares are nested.
func TestRL119FieldsAreNeverDoubled(t *testing.T) {
	for _, order := range [][2]string{{"10/min", "5/min"}, {"5/min", "10/min"}} {
		w := newWorld(t)
		outer, err := httplimit.New(&httplimit.Options{XRateLimit: true}, httplimit.Rule{Name: "outer", Limiter: w.firstHit(order[0])})
		require.NoError(t, err)
		inner := handler(t, &httplimit.Options{XRateLimit: true}, httplimit.Rule{Name: "inner", Limiter: w.firstHit(order[1])})
		h := outer(inner)
		res := get(h, "203.0.113.9:1")
		require.Equal(t, 200, res.StatusCode)
		strict := "inner"
		if order[0] == "5/min" {
			strict = "outer"
		}
		require.Equal(t, []string{`"` + strict + `";r=4;t=60`}, res.Header.Values("RateLimit"))
		require.Equal(t, []string{"5"}, res.Header.Values("X-RateLimit-Limit"))
		require.Equal(t, []string{"4"}, res.Header.Values("X-RateLimit-Remaining"))
		policies := fmt.Sprintf(`"outer";q=%s;w=60, "inner";q=%s;w=60`, strings.TrimSuffix(order[0], "/min"), strings.TrimSuffix(order[1], "/min"))
		require.Equal(t, []string{policies}, res.Header.Values("RateLimit-Policy"))
		for range 4 {
			get(h, "203.0.113.9:1")
		}
		res = get(h, "203.0.113.9:1")
		require.Equal(t, 429, res.StatusCode)
		require.Equal(t, []string{`"` + strict + `";r=0;t=60`}, res.Header.Values("RateLimit"))
		for name, want := range map[string]string{
			"Retry-After": "60", "X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "60",
		} {
			require.Equal(t, []string{want}, res.Header.Values(name))
		}
	}
}

// RL-121: a request that one limit denies is charged to none.
func TestRL121DeniedByOneChargesNone(t *testing.T) {
	w := newWorld(t)
	limiter := w.firstHit("4/h") // one for both rules: their keys never meet
	h := handler(t, nil,
		httplimit.Rule{Name: "user", Key: httplimit.Header("User"), Limiter: limiter},
		httplimit.Rule{Name: "team", Key: httplimit.Header("Team"), Limiter: limiter})
	ask := func(user, team string, times int) (codes []int) {
		for range times {
			codes = append(codes, get(h, "203.0.113.9:1", "User", user, "Team", team).StatusCode)
		}
		return codes
	}
	require.Equal(t, []int{200, 200, 200, 200, 429}, ask("1", "CH", 5))
	require.Equal(t, []int{429, 429}, ask("2", "CH", 2))
	require.Equal(t, []int{200, 200, 200, 200}, ask("2", "TC", 4))
	require.Equal(t, []int{429}, ask("2", "TC", 1))
}

func TestSeveralRulesSayWhichDenied(t *testing.T) {
	w := newWorld(t)
	var got httplimit.Denial
	opts := &httplimit.Options{Denied: func(w http.ResponseWriter, _ *http.Request, d httplimit.Denial) {
		got = d
		w.WriteHeader(http.StatusTeapot)
	}}
	h := handler(t, opts,
		httplimit.Rule{Name: "wide", Key: httplimit.Everyone, Limiter: w.firstHit("10/h")},
		httplimit.Rule{Name: "narrow", Limiter: w.firstHit("1/min")})
	res := get(h, "203.0.113.9:1")
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, []string{`"narrow";r=0;t=60`}, res.Header.Values("RateLimit"), "the strictest")
	require.Equal(t, []string{`"wide";q=10;w=3600, "narrow";q=1;w=60`}, res.Header.Values("RateLimit-Policy"))
	res = get(h, "203.0.113.9:1")
	require.Equal(t, http.StatusTeapot, res.StatusCode, "the user's own answer")
	require.Equal(t, "60", res.Header.Get("Retry-After"))
	require.Equal(t, []string{"narrow"}, got.Rules)
	require.Equal(t, time.Minute, got.Decision.RetryAfter)
}

func TestProblemDocument(t *testing.T) {
	w := newWorld(t)
	h := handler(t, nil, httplimit.Rule{Name: "api", Limiter: w.firstHit("1/min")})
	get(h, "203.0.113.9:1")
	res := get(h, "203.0.113.9:1")
	require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
	var body map[string]any
	require.NoError(t, json.NewDecoder(res.Body).Decode(&body))
	require.Equal(t, map[string]any{
		"type":              "https://iana.org/assignments/http-problem-types#quota-exceeded",
		"title":             "Request cannot be satisfied as assigned quota has been exceeded",
		"status":            429.0,
		"detail":            "Try again in 1m0s.",
		"violated-policies": []any{"api"},
	}, body)
}

func TestCostPerRequest(t *testing.T) {
	w := newWorld(t)
	h := handler(t, nil, httplimit.Rule{Name: "api", Limiter: w.firstHit("10/min"), Cost: func(r *http.Request) int64 {
		n, _ := strconv.ParseInt(r.Header.Get("Cost"), 10, 64)
		return n
	}})
	require.Equal(t, 200, get(h, "203.0.113.9:1", "Cost", "8").StatusCode)
	require.Equal(t, 429, get(h, "203.0.113.9:1", "Cost", "3").StatusCode)
	require.Equal(t, 200, get(h, "203.0.113.9:1", "Cost", "0").StatusCode, "zero only looks")
	res := get(h, "203.0.113.9:1", "Cost", "11")
	require.Equal(t, 429, res.StatusCode)
	require.Empty(t, res.Header.Values("Retry-After"), "no time to wait would help")
	require.Equal(t, 500, get(h, "203.0.113.9:1", "Cost", "-1").StatusCode)
	require.Equal(t, 200, get(h, "203.0.113.9:1", "Cost", "2").StatusCode)
}

func TestSafelistAndBlocklist(t *testing.T) {
	w := newWorld(t)
	addresses, err := httplimit.NewAddresses(nil)
	require.NoError(t, err)
	office, err := addresses.In("192.0.2.0/24", "2001:db8::1")
	require.NoError(t, err)
	bad, err := addresses.In("192.0.2.7", "198.51.100.0/24")
	require.NoError(t, err)
	h := handler(t, &httplimit.Options{
		Safe: []func(*http.Request) bool{office}, Block: []func(*http.Request) bool{bad},
	}, httplimit.Rule{Name: "api", Key: httplimit.Everyone, Limiter: w.firstHit("1/min")})
	for range 3 {
		require.Equal(t, 200, get(h, "192.0.2.7:1").StatusCode, "safe comes first")
		require.Equal(t, 200, get(h, "[2001:db8::1]:1").StatusCode)
		require.Equal(t, 403, get(h, "198.51.100.9:1").StatusCode)
	}
	res := get(h, "203.0.113.9:1")
	require.Equal(t, 200, res.StatusCode, "neither counted")
	require.Equal(t, 429, get(h, "203.0.113.9:1").StatusCode)
}

func TestMatch(t *testing.T) {
	w := newWorld(t)
	h := handler(t, nil, httplimit.Rule{
		Name: "writes", Limiter: w.firstHit("1/min"),
		Match: func(r *http.Request) bool { return r.Header.Get("Write") != "" },
	})
	for range 3 {
		res := get(h, "203.0.113.9:1")
		require.Equal(t, 200, res.StatusCode)
		require.Empty(t, res.Header.Values("RateLimit"))
	}
	require.Equal(t, 200, get(h, "203.0.113.9:1", "Write", "1").StatusCode)
	require.Equal(t, 429, get(h, "203.0.113.9:1", "Write", "1").StatusCode)
}

func TestKeyOfIsWhatIsCounted(t *testing.T) {
	w := newWorld(t)
	rule := httplimit.Rule{Name: "api", Limiter: w.firstHit("1/min")}
	h := handler(t, nil, rule)
	get(h, "203.0.113.9:1")
	require.Equal(t, 429, get(h, "203.0.113.9:1").StatusCode)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "203.0.113.9:2"
	key, ok := rule.KeyOf(r)
	require.True(t, ok)
	require.Equal(t, "api:203.0.113.9", key)
	require.NoError(t, rule.Limiter.Reset(t.Context(), key))
	require.Equal(t, 200, get(h, "203.0.113.9:1").StatusCode)
}

func TestLimitPerKey(t *testing.T) {
	w := newWorld(t)
	l, err := weir.NewPerKey(algorithms.FixedWindow(), func(key string) weir.Limit {
		if key == "api:gold" {
			return weir.Limit{Count: 5, Window: time.Minute}
		}
		return weir.Limit{Count: 1, Window: time.Minute}
	}, w.st, nil)
	require.NoError(t, err)
	h := handler(t, nil, httplimit.Rule{Name: "api", Key: httplimit.Header("Plan"), Limiter: weir.FailOpen(l, nil)})
	require.Equal(t, `"api";q=1;w=60`, get(h, "203.0.113.9:1", "Plan", "tin").Header.Get("RateLimit-Policy"))
	require.Equal(t, `"api";q=5;w=60`, get(h, "203.0.113.9:1", "Plan", "gold").Header.Get("RateLimit-Policy"))
}

func TestWindowsRoundUpToSeconds(t *testing.T) {
	w := newWorld(t)
	for window, want := range map[string]string{"5/500ms": `"api";q=5;w=1`, "5/1500ms": `"api";q=5;w=2`} {
		h := handler(t, nil, httplimit.Rule{Name: "api", Limiter: w.firstHit(window)})
		require.Equal(t, want, get(h, "203.0.113.9:1").Header.Get("RateLimit-Policy"))
	}
}

func TestWrongRules(t *testing.T) {
	w := newWorld(t)
	l := w.firstHit("1/min")
	for name, c := range map[string]struct {
		rules []httplimit.Rule
		want  string
	}{
		"no name":      {[]httplimit.Rule{{Limiter: l}}, "rule name"},
		"a colon":      {[]httplimit.Rule{{Name: "a:b", Limiter: l}}, "rule name"},
		"a quote":      {[]httplimit.Rule{{Name: `a"`, Limiter: l}}, "rule name"},
		"same name":    {[]httplimit.Rule{{Name: "a", Limiter: l}, {Name: "a", Limiter: l}}, "no other rule"},
		"no limiter":   {[]httplimit.Rule{{Name: "a"}}, "want a limiter"},
		"no refunding": {[]httplimit.Rule{{Name: "a", Limiter: l}, {Name: "b", Limiter: plain{l}}}, "give back"},
	} {
		_, err := httplimit.New(nil, c.rules...)
		var wrong *weir.FieldError
		require.ErrorAs(t, err, &wrong, name)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := httplimit.New(nil, httplimit.Rule{Name: "a", Limiter: plain{l}})
	require.NoError(t, err, "alone it need not give back")
}

type plain struct{ weir.Limiter }
