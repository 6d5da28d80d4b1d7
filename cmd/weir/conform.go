package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/conformance"
	"github.com/weirlimits/weir/internal/backend"
	"github.com/weirlimits/weir/store"
)

const conformHelp = `Conform runs the conformance suite against a live store: the contract of each of its capabilities,
whether its traits promise too much, and each algorithm by each plan that it can run there.

It prints a certificate, with the versions and the seed. What fails is shown with the rule that it
breaks and the shortest failing history that was found; the same seed asks the same again.

Keys are written under a random prefix only, and deleted in the end. The exit code is 1 if a rule is
broken or a trait promises too much, and 3 if the server stopped to answer.`

const conformExamples = `  weir conform --store redis://localhost:6379/0
  weir conform --store memcache://cache1:11211,cache2:11211 --algorithm gcra --format md`

// conformCommand is weir conform and its flags.
type conformCommand struct {
	*common
	effort int
}

func newConformCommand(c *common) *cobra.Command {
	f := &conformCommand{common: c}
	cmd := &cobra.Command{
		Use:     "conform",
		Short:   "Does a store keep its word? The conformance suite, with a certificate",
		Long:    conformHelp,
		Example: conformExamples,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	c.register(cmd, flagStore|flagAlgorithm|flagSeed|flagFormat, []string{formatText, formatJSON, formatMarkdown}, nil)
	cmd.Flags().IntVar(&f.effort, "effort", 1, "`N` times as many random trials, 1 to 1000")
	return cmd
}

// certificate is what the suite found on one store.
type certificate struct {
	URL     string              `json:"url"`
	Server  string              `json:"server"`
	StandIn string              `json:"stand_in,omitempty"`
	Report  *conformance.Report `json:"report"`
}

func (f *conformCommand) run(ctx context.Context) error {
	if err := f.parse(); err != nil {
		return err
	}
	if f.effort < 1 || f.effort > 1000 {
		return &weir.FieldError{Field: "--effort", Value: fmt.Sprint(f.effort), Want: "1 to 1000"}
	}
	if f.seed == 0 {
		return &weir.FieldError{Field: "--seed", Value: "0", Want: "1 or more"}
	}
	return f.withBackends(ctx, nil, func(open backends) error {
		var all []certificate
		for i, b := range open {
			c, err := f.certify(ctx, b, f.stores[i])
			if err != nil {
				return err
			}
			all = append(all, c)
		}
		if err := f.print(certificates{all, f.format}.render); err != nil {
			return err
		}
		return conformVerdict(all)
	})
}

// certify runs the suite on one store. The store that it closes in the middle is another one.
func (f *conformCommand) certify(ctx context.Context, b *backend.Backend, url string) (c certificate, err error) {
	var second *backend.Backend
	opened := false
	progress := f.newReporter()
	defer progress.stop()
	report, err := conformance.Check(ctx, conformance.Config{
		Open: func(ctx context.Context) (store.Store, error) {
			if !opened {
				opened = true
				return b.Store, nil
			}
			var err error
			if second, err = backend.Open(ctx, url, nil); err != nil {
				return nil, err
			}
			return second.Store, nil
		},
		KeepOpen:   true,
		Algorithms: f.algorithms,
		Skip:       standInSkips(b),
		Seed:       f.seed,
		Effort:     f.effort,
		Prefix:     b.NewPrefix(),
		Guest:      b.Shared,
		Progress: func(done, total int, last conformance.Result) {
			progress.step(fmt.Sprintf("%s: %s", b.Name, last.Check), done, total)
		},
	})
	if second != nil {
		_ = second.Close() // its store is closed, and its keys are deleted through the first
	}
	if err != nil {
		return c, err
	}
	report.Elapsed = report.Elapsed.Round(time.Millisecond)
	return certificate{URL: b.Name, Server: b.Server, StandIn: b.StandIn, Report: report}, nil
}

// standInSkips are the checks that a stand-in, which is no server, would fail by its nature.
func standInSkips(b *backend.Backend) map[string]string {
	if b.StandIn != "miniredis" {
		return nil
	}
	const coarse = "miniredis has no time of its own: its keys age in steps"
	return map[string]string{
		"footprint": "miniredis does not know what a key occupies",
		"*/ttl":     coarse, "*/ttl-kept": coarse, "*/ttl-renewed": coarse,
	}
}

// conformVerdict is the error of a store that did not pass.
func conformVerdict(all []certificate) error {
	var errs []error
	for _, c := range all {
		switch r := c.Report; {
		case r.Status() == conformance.Error:
			return unreachable(fmt.Errorf("weir: conform: %s stopped to answer: %s", c.URL, outcomes(r.Count)))
		case r.Status() >= conformance.OverClaimed:
			errs = append(errs, fmt.Errorf("weir: conform: %s does not conform: %s", c.URL, outcomes(r.Count)))
		case r.Count(conformance.Pass) == 0:
			errs = append(errs, fmt.Errorf("weir: conform: %s: no check passed: want a store with a capability", c.URL))
		}
	}
	if errs == nil {
		return nil
	}
	return failed(errors.Join(errs...))
}
