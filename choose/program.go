package choose

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

//go:embed program.go.tmpl
var programText string

var programTemplate = template.Must(template.New("program").Parse(programText))

// Program returns a complete program in Go that serves a page under the recommended limit: its store, at a URL such as
// the program weir takes (empty: on this machine), its limiter, and net/http. It fails closed where nothing over the
// limit is tolerated, and open otherwise. The error names what is not to be had: a recommendation, or a store of this module.
func (a *Answer) Program(url string) ([]byte, error) {
	if a.Best == nil {
		return nil, &weir.FieldError{
			Field: "program", Value: "no recommendation", Want: "a store and a memory in which something fits",
		}
	}
	p := program{
		Answer: a, Package: a.Store.Name, Algorithm: a.Best.single.String(), Limit: goLimit(a.Want.limit()),
		Text: a.Best.Algorithm.String(), Fail: "FailOpen", FailWhy: "admits while the store cannot answer",
	}
	if a.Want.Over == 0 {
		p.Fail, p.FailWhy = "FailClosed", "denies while the store cannot answer"
	}
	switch a.Store.Name {
	case "memory":
		p.Open, p.Sure = "memory.New(nil)", true
	case "redis":
		p.Open = "redis.Open(" + strconv.Quote(orElse(url, "redis://localhost:6379/0")) + ", nil)"
	case "memcache":
		_, hosts, _ := strings.Cut(orElse(url, "memcache://localhost:11211"), "://")
		p.Open = fmt.Sprintf("memcache.Open(%#v, nil)", strings.Split(hosts, ","))
	default:
		return nil, &weir.FieldError{
			Field: "program", Value: "store " + strconv.Quote(a.Store.Name), Want: "memory, redis or memcache",
		}
	}
	p.CounterOnly = a.Store.Name == "memcache" && !a.Store.Capabilities.Has(store.CapSwap)
	for _, l := range a.layers() {
		p.Layers = append(p.Layers, goLimit(l))
	}
	var b bytes.Buffer
	if err := programTemplate.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("choose: program: %w", err)
	}
	source, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("choose: program: %w", err)
	}
	return source, nil
}

// program is what the template is filled with.
type program struct {
	*Answer
	Package, Open, Algorithm, Limit, Text, Fail, FailWhy string

	Sure        bool // to open it cannot fail
	CounterOnly bool
	Layers      []string
}

// layers are the limits beside the first.
func (a *Answer) layers() []weir.Limit {
	if cage, _ := a.Want.cage(); a.Want.cageOf(*a.Best) != "" {
		return []weir.Limit{cage}
	}
	return a.Want.Limits[1:]
}

func goLimit(l weir.Limit) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{
		{time.Hour, "time.Hour"},
		{time.Minute, "time.Minute"},
		{time.Second, "time.Second"},
		{time.Millisecond, "time.Millisecond"},
	} {
		if l.Window%u.size == 0 {
			window := u.name
			if n := l.Window / u.size; n > 1 {
				window = fmt.Sprintf("%d * %s", n, u.name)
			}
			return fmt.Sprintf("weir.Limit{Count: %d, Window: %s}", l.Count, window)
		}
	}
	return fmt.Sprintf("weir.Limit{Count: %d, Window: %d * time.Microsecond}", l.Count, l.Window/time.Microsecond)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
