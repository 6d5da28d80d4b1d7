package main

import (
	"github.com/spf13/cobra"

	"github.com/weirlimits/weir/bench"
)

const matrixHelp = `Matrix shows which algorithm can run on which store, by which plan, how exact that is, the most
that any window can see admitted, and how many round trips a decision makes; or what the store
lacks. It measures nothing.

With --proof it asks no store and takes no one's word: it follows every pattern of requests through
each algorithm, for a small limit and window, and prints what is declared beside the worst that it
found, and the requests that get there. Exit code 1 if they differ.`

func newMatrixCommand(c *common) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "matrix",
		Short:   "Which algorithm can run on which store, and what it promises there",
		Long:    matrixHelp,
		Example: "  weir matrix --limit 100/min\n  weir matrix --store redis://localhost:6379/0 --algorithm gcra,burst=20\n  weir matrix --proof",
		Args:    noArgs,
	}
	c.register(cmd, flagStore|flagAlgorithm|flagLimit|flagFormat|flagOutput, resultFormats(), nil)
	cmd.Flags().BoolVar(&c.withRacy, "racy", false, "also show limiters that are not atomic")
	prove := cmd.Flags().Bool("proof", false, "explore every pattern of requests and print the worst cases found")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := c.parse(); err != nil {
			return err
		}
		if *prove {
			return c.proofs(cmd)
		}
		return c.withBackends(cmd.Context(), nil, func(b backends) error {
			res, err := c.declared(cmd, b)
			if err != nil {
				return err
			}
			return c.emit(res)
		})
	}
	return cmd
}

// declared is what is known of a run before anything is measured: where it is made, and what each
// algorithm promises on each store.
func (c *common) declared(cmd *cobra.Command, b backends) (*bench.Results, error) {
	return bench.Compare(cmd.Context(), bench.Config{
		Algorithms: c.algorithms, Backends: b, Limit: c.limit, Flags: c.again(cmd, b),
		Scenarios: []bench.Scenario{}, Events: []int64{}, Callers: []int{},
	}, nil)
}
