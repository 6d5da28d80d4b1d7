package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
	"github.com/weirlimits/weir/choose"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/internal/layers"
	"github.com/weirlimits/weir/store"
)

const chooseHelp = `Choose ranks the algorithms for a store, a limit and a number of clients, recommends one, and says what
it is traded for and what would change the answer. What cannot run, fit, or keep to what is tolerated is
listed with the reason.

The order is: never above the tolerated bound, as declared and not as hoped; then no more early denials than
tolerated; then memory, round trips and speed. Bytes are estimated from what each algorithm's state is and what
the store's allocator takes for it; speed and errors were measured once, and are kept with the program.

A store is described by name, without a server: memory: redis: redis+cluster: memcache: memcache+counter:
or is a URL, as everywhere; then it tells itself whether it evicts. With recorded traffic (--trace), or generated
(--traffic), errors are those of that traffic, and the expected memory is what its clients use. --measure then tries
the recommendation on the store: bytes per key, and decisions judged by an exact oracle, under a random prefix.

Of --tolerance, what is left out may be anything; without the flag nothing is tolerated. over is what any window may
see beyond the limit, deny what may be free when a request is denied; both in parts of the limit.`

const chooseExamples = `  weir choose --store redis: --limit 100/min --clients 1000000 --memory 2GB
  weir choose --store memcache: --limit 100/min --clients 5000000 --tolerance over=100%,deny=0
  weir choose --store redis://localhost:6379/0 --limit 5/min --trace access.log.gz --match 'POST /login' --measure
  weir choose --store redis: --limit 10/15m --keys 2 --emit go >main.go`

// chooseCommand is weir choose and its flags.
type chooseCommand struct {
	*common
	traffic   traffic
	scenario  string
	url       string
	memory    string
	tolerance string
	want      choose.Want
	rate      string
	measure   bool
	emitted   string
}

func newChooseCommand(c *common) *cobra.Command {
	v := &chooseCommand{common: c}
	cmd := &cobra.Command{
		Use:     "choose",
		Short:   "Recommend an algorithm for a store, a limit, clients and memory, and say why",
		Long:    chooseHelp,
		Example: chooseExamples,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	c.register(cmd, flagLimit|flagSeed|flagFormat|flagOutput, resultFormats(), nil)
	fs := cmd.Flags()
	fs.StringVar(&v.url, "store", "redis:",
		"store by name, `STORE`: "+strings.Join(described, " ")+"\nor a URL, or redis:private and memcache:private")
	complete(cmd, "store", described)
	fs.Int64Var(&v.want.Clients, "clients", 10_000, "`N` clients that have a key at the same time")
	fs.StringVar(&v.memory, "memory", "", "`BYTES` for all of them, such as 500MB, 2GB or 1GiB (default no bound)")
	fs.StringVar(&v.tolerance, "tolerance", "over=0,deny=0",
		"what may go wrong, as `SHARES` of the limit, such as over=5% or over=100%,deny=0")
	fs.BoolVar(&v.want.Aligned, "aligned", false, "the limit is meant for windows aligned to the clock, as quotas are billed")
	fs.Int64Var(&v.want.Cost, "cost", 1, "`N` of the limit that one request takes at most")
	fs.IntVar(&v.want.Keys, "keys", 1, "`N` keys that one request is charged to, such as 2: its address and its account")
	fs.StringVar(&v.rate, "rate", "", "what a usual client asks for, `COUNT/WINDOW`, for the memory that is to be expected")
	v.traffic.register(cmd)
	fs.StringVar(&v.scenario, "traffic", "", "generated traffic in place of a trace: `SHAPE` "+strings.Join(shapes(), ", "))
	complete(cmd, "traffic", shapes())
	fs.BoolVar(&v.measure, "measure", false, "try the recommendation on the store, which must be a URL")
	fs.StringVar(&v.emitted, "emit", "", "print a program that ships it, in `LANGUAGE` go, instead")
	complete(cmd, "emit", []string{"go"})
	return cmd
}

// described are the stores that need no server.
var described = []string{"memory:", "redis:", "redis+cluster:", "memcache:", "memcache+counter:"}

// shapes names the generated traffic.
func shapes() (names []string) {
	for _, s := range bench.Scenarios(weir.Limit{Count: 10, Window: 1e9}, 1) {
		names = append(names, s.Name)
	}
	return names
}

func (v *chooseCommand) run(cmd *cobra.Command) error {
	if err := v.parse(); err != nil {
		return err
	}
	if err := v.parseWant(); err != nil {
		return err
	}
	if slices.Contains(described, v.url) && (v.url != "memory:" || !v.measure) {
		if v.measure {
			return &weir.FieldError{
				Field: "--measure", Value: "given with --store " + v.url, Want: "the URL of a server, or redis:private or memcache:private",
			}
		}
		v.want.Cluster = v.url == "redis+cluster:"
		traits, err := choose.Named(strings.TrimSuffix(strings.Replace(v.url, "+cluster", "", 1), ":"))
		if err != nil {
			return err
		}
		return v.answer(cmd, traits, nil)
	}
	if err := backend.Check(v.url); err != nil {
		return err
	}
	v.stores = []string{v.url}
	v.want.Cluster = strings.HasPrefix(v.url, "redis+cluster:")
	return v.withBackends(cmd.Context(), nil, func(b backends) error {
		traits := b[0].Store.Traits()
		traits.Capabilities &= store.Implemented(b[0].Store)
		return v.answer(cmd, traits, b[0])
	})
}

// answer chooses and prints. on is nil where the store was only described.
func (v *chooseCommand) answer(cmd *cobra.Command, traits store.Traits, on *backend.Backend) error {
	events, err := v.events(cmd)
	if err != nil {
		return err
	}
	a, err := choose.For(traits, v.want)
	if err != nil {
		return v.flagged(err)
	}
	if len(events) > 0 {
		if err := v.look(cmd.Context(), a, events); err != nil {
			return err
		}
		if a, err = choose.For(traits, v.want); err != nil {
			return v.flagged(err)
		}
	}
	if v.emitted != "" {
		return v.emitProgram(a, on)
	}
	c := newChoice(a, layers.Text(v.want.Limits))
	if v.measure && a.Best != nil {
		if c.Measured, err = v.confirm(cmd.Context(), a, on, events); err != nil {
			return err
		}
	}
	return errors.Join(
		v.print(func(b *bytes.Buffer) error { return c.render(b, v.format) }),
		v.writeOutputs(func(b *bytes.Buffer, format string) error { return c.render(b, format) }),
	)
}

// emitProgram prints a program, and why it is this one on standard error.
func (v *chooseCommand) emitProgram(a *choose.Answer, on *backend.Backend) error {
	url := ""
	if on != nil && on.Shared {
		url = on.Name // without credentials
	}
	source, err := a.Program(url)
	if err != nil {
		return err
	}
	v.note("%s", a.Reason)
	return v.print(func(b *bytes.Buffer) error {
		_, err := b.Write(source)
		return err
	})
}

// flagged names the flag instead of the field.
func (v *chooseCommand) flagged(err error) error {
	var field *weir.FieldError
	if errors.As(err, &field) && slices.Contains([]string{"clients", "memory", "cost", "keys"}, field.Field) {
		return &weir.FieldError{Field: "--" + field.Field, Value: field.Value, Want: field.Want}
	}
	return err
}

// parseWant reads the flags that are no plain numbers.
func (v *chooseCommand) parseWant() (err error) {
	if i := slices.IndexFunc(v.outputs, func(path string) bool { return ending(path) == ".html" }); i >= 0 {
		return &weir.FieldError{Field: "-o", Value: strconv.Quote(v.outputs[i]), Want: "a file that ends in .json, .csv or .md"}
	}
	if v.emitted != "" && v.emitted != "go" {
		return &weir.FieldError{Field: "--emit", Value: strconv.Quote(v.emitted), Want: "go"}
	}
	if v.want.Limits, err = weir.ParseLimits(v.given.limit); err != nil {
		return err
	}
	if v.memory != "" {
		if v.want.Memory, err = parseBytes(v.memory); err != nil {
			return err
		}
	}
	v.want.Over, v.want.Deny, err = parseTolerance(v.tolerance)
	return err
}

// parseBytes reads "500MB", "2GB", "1.5GiB" or a plain number.
func parseBytes(text string) (int64, error) {
	number := strings.TrimRight(text, "BiKkMGTbytes ")
	unit, ok := map[string]float64{
		"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}[strings.TrimSpace(text[len(number):])]
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(n*unit >= 1 && n*unit < 1e18) {
		return 0, &weir.FieldError{
			Field: "--memory", Value: strconv.Quote(text), Want: "bytes above 0, such as 500MB, 2GB or 1GiB",
		}
	}
	return int64(n * unit), nil
}

// parseTolerance reads "over=5%,deny=0". What is left out may be anything.
func parseTolerance(text string) (over, deny float64, err error) {
	over, deny = choose.AnyOver, 1
	wrong := &weir.FieldError{
		Field: "--tolerance", Value: strconv.Quote(text),
		Want: "over=SHARE, deny=SHARE or both, as over=5%,deny=0; deny is at most 100%",
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		number, percent := strings.CutSuffix(value, "%")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n != 0 && !percent {
			return 0, 0, wrong
		}
		switch n /= 100; {
		case name == "over" && n >= 0 && n < choose.AnyOver:
			over = n
		case name == "deny" && n >= 0 && n <= 1:
			deny = n
		default:
			return 0, 0, wrong
		}
	}
	return over, deny, nil
}

// confirm tries the recommendation on the store.
func (v *chooseCommand) confirm(
	ctx context.Context, a *choose.Answer, on *backend.Backend, events []event,
) (*confirmed, error) {
	full := max(min(v.want.Limits[0].Count/v.want.Cost, 10_000), 1)
	config := bench.Config{
		Algorithms: []weir.Algorithm{a.Best.Algorithm}, Backends: backends{on}, Limit: v.limit, Seed: v.seed,
		Events: []int64{full}, Callers: []int{},
	}
	if len(events) > 0 {
		config.Scenarios = []bench.Scenario{{Name: "traffic", Events: events}}
	}
	progress := v.newReporter()
	res, err := bench.Compare(ctx, config, progress.step)
	progress.stop()
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case res.Incomplete != "":
		return nil, incomplete(res)
	}
	c := newConfirmed(res, full)
	if len(v.want.Limits) == 1 && full*v.want.Cost == v.limit.Count {
		c.Estimate = hundredths(a.Best.Bytes.Full / float64(v.want.Keys))
	}
	return c, nil
}

// String is for standard error and text.
func (c *confirmed) String() string {
	text := fmt.Sprintf("Measured on %s (%s): ", c.Store, c.Server)
	if c.BytesPerKey > 0 {
		text += fmt.Sprintf("%.0f bytes for a key of %d requests", c.BytesPerKey, c.Requests)
		if c.Estimate > 0 {
			text += fmt.Sprintf(" (estimated: %.0f)", c.Estimate)
		}
		text += "; "
	} else {
		text += "no bytes, " + c.NA + "; "
	}
	return text + fmt.Sprintf("of %d decisions, judged by %s alone, %d were denied without need "+
		"and %d admitted too many; %d at most in a window.", c.Decisions, c.Limit, c.FalseDenied, c.OverAdmitted, c.MaxInWindow)
}
