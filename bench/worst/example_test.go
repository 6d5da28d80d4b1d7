package worst_test

import (
	"fmt"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/worst"
)

func ExampleSearch() {
	a := algorithms.SlidingCounter()
	r, err := worst.Search(a, 3, 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.MaxLine())
	fmt.Println(r.DeficitLine())

	shape, err := a.Shape(weir.Limit{Count: 3, Window: 6 * time.Microsecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Check(shape.Guarantee))
	shape.Guarantee.Deficit--
	fmt.Println(r.Check(shape.Guarantee))
	// Output:
	// t=5: 3 admitted, t=10: 2 admitted: 5 in (4,10]
	// t=0: 3 admitted, t=6: 1 denied: 3 free in (0,6]
	// <nil>
	// worst: sliding-counter at 3 per 6 ticks: deficit: declared 2, found 3
}
