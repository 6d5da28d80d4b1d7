package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench/worst"
)

// proofSizes are the limits and windows, in ticks of a microsecond, that are explored: the first that an
// algorithm's options go with. The second is for windows that are cut in many parts.
var proofSizes = []struct{ limit, ticks int64 }{{3, 7}, {2, 120}}

// proof is what was declared of an algorithm and what the search found.
type proof struct {
	Algorithm  string        `json:"algorithm"`
	Limit      int64         `json:"limit,omitempty"`
	WindowUS   int64         `json:"window_us,omitempty"`
	Declared   *proofFigures `json:"declared,omitempty"`
	Found      *proofFigures `json:"found,omitempty"`
	LongRun    float64       `json:"long_run"`
	Insistent  float64       `json:"insistent"`
	States     int           `json:"states"`
	MaxBy      string        `json:"max_by,omitempty"`
	DeficitBy  string        `json:"deficit_by,omitempty"`
	Holds      bool          `json:"holds"`
	Unexplored string        `json:"unexplored,omitempty"` // why
	broken     error
}

type proofFigures struct {
	MaxInWindow  int64 `json:"max_in_window"`
	Deficit      int64 `json:"deficit"`
	DeficitForUS int64 `json:"deficit_for_us"` // 0: nothing shorter than the window bounds it
}

// proofFlags refuses what a proof would ignore.
func (c *common) proofFlags(cmd *cobra.Command) error {
	for _, name := range []string{"store", "limit"} {
		if cmd.Flags().Changed(name) {
			return &weir.FieldError{
				Field: "--" + name, Value: "given with --proof",
				Want: "neither --store nor --limit with it: it explores small limits, without a store",
			}
		}
	}
	if i := slices.IndexFunc(c.outputs, func(path string) bool { return ending(path) == ".html" }); i >= 0 {
		return &weir.FieldError{Field: "-o", Value: strconv.Quote(c.outputs[i]), Want: "a file that ends in .json, .csv, .md with --proof"}
	}
	return nil
}

// proofs explores every algorithm, prints what it found, and fails where that is not what is declared.
func (c *common) proofs(cmd *cobra.Command) error {
	if err := c.proofFlags(cmd); err != nil {
		return err
	}
	var all []proof
	var errs []error
	progress := c.newReporter()
	for i, a := range c.algorithms {
		progress.step("exploring "+a.String(), i, len(c.algorithms))
		if err := cmd.Context().Err(); err != nil {
			progress.stop()
			return err
		}
		p, err := prove(a)
		if err != nil {
			progress.stop()
			return err
		}
		all, errs = append(all, p), append(errs, p.broken)
	}
	progress.stop()
	if !slices.ContainsFunc(all, func(p proof) bool { return p.Unexplored == "" }) {
		errs = append(errs, failed(errors.New("weir: matrix: nothing was proved: want an algorithm that can be explored")))
	}
	errs = append(errs,
		c.print(func(b *bytes.Buffer) error { return writeProofs(b, c.format, all) }),
		c.writeOutputs(func(b *bytes.Buffer, format string) error { return writeProofs(b, format, all) }),
	)
	return errors.Join(errs...)
}

// prove explores one algorithm, at the first size that its options go with. Its error is a step that
// broke its contract.
func prove(a weir.Algorithm) (proof, error) {
	p := proof{Algorithm: a.String()}
	for _, size := range proofSizes {
		limit := weir.Limit{Count: size.limit, Window: time.Duration(size.ticks) * time.Microsecond}
		r, err := worst.Search(a, size.limit, size.ticks)
		if wrong := (*weir.FieldError)(nil); errors.As(err, &wrong) {
			if p.Unexplored == "" {
				p.Unexplored = fmt.Sprintf("at %d per %d ticks %s %s: want %s", size.limit, size.ticks, wrong.Field, wrong.Value, wrong.Want)
			}
			continue
		}
		if errors.Is(err, worst.ErrOutOfReach) {
			p.Unexplored = err.Error()
			return p, nil
		}
		if err != nil {
			return p, failed(err)
		}
		shape, err := a.Shape(limit)
		if err != nil {
			return p, err
		}
		g := shape.Guarantee
		p.Limit, p.WindowUS, p.Unexplored = size.limit, size.ticks, ""
		p.Declared = &proofFigures{g.MaxInWindow, g.Deficit, g.DeficitFor.Microseconds()}
		p.Found = &proofFigures{r.MaxInWindow, r.Deficit, r.DeficitFor.Microseconds()}
		p.LongRun, p.Insistent, p.States = r.LongRun, r.Saturated, r.States
		p.MaxBy, p.DeficitBy = r.MaxLine(), r.DeficitLine()
		if err := r.Check(g); err != nil {
			p.broken = failed(err)
		}
		p.Holds = p.broken == nil
		return p, nil
	}
	return p, nil
}
