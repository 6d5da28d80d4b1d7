package worst

import "slices"

// sequence returns the requests that lead to a node, and the tick at which it lies.
func (e *explorer) sequence(to int32) (steps []Step, now int64) {
	var path []int32
	for i := to; i >= 0; i = e.nodes[i].parent {
		path = append(path, i)
	}
	now = e.nodes[path[len(path)-1]].phase
	for _, i := range slices.Backward(path[:len(path)-1]) {
		if by := e.nodes[i].by; by.cost == 0 {
			now++
		} else {
			steps = append(steps, Step{Time: now, Cost: int64(by.cost), Allowed: by.allowed})
		}
	}
	return steps, now
}
