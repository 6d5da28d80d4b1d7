package trace_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirlimits/weir/bench/trace"
)

// Who asked to log in, how often, and can this log say anything about a limit per second?
func Example() {
	log := `alice.example - - [10/Oct/2000:13:55:36 +0000] "POST /login HTTP/1.1" 401 17
bob.example - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1" 200 512
this line is broken
alice.example - - [10/Oct/2000:13:55:35 +0000] "POST /login?again HTTP/1.1" 200 17
`
	t, err := trace.Read(strings.NewReader(log), "access.log", &trace.Options{Match: "POST /login"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range t.Events {
		fmt.Println(time.UnixMicro(e.Time).UTC().Format(time.TimeOnly), e.Key, e.Cost)
	}
	fmt.Printf("%s: %d events, %d bad, %d unmatched, %d backward\n", t.Format, len(t.Events), t.Bad, t.Unmatched, t.Backward)
	fmt.Println(t.FirstBad)
	fmt.Println("resolution", t.Resolution, "- too coarse for 1s:", t.CoarseFor(time.Second))
	// Output:
	// 13:55:35 alice.example 1
	// 13:55:36 alice.example 1
	// clf: 2 events, 1 bad, 1 unmatched, 1 backward
	// line 3: time must stand in brackets, as in [10/Oct/2000:13:55:36 -0700], and lie between 1970 and 2200
	// resolution 1s - too coarse for 1s: true
}
