package algorithms

import (
	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/store"
)

// StepOf returns an algorithm's step and its parameters under a limit.
func StepOf(a weir.Algorithm, l weir.Limit) (*store.Step, []int64) {
	shape, err := a.Shape(l)
	if err != nil {
		panic(err)
	}
	return shape.Plans[0].Step, shape.Plans[0].Params // all of this package have a script plan, and first
}
