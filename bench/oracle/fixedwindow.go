package oracle

// NewFixedWindow returns the rule that admits limit in each window [i*window, (i+1)*window), aligned to time zero.
func NewFixedWindow(limit, window int64) *Model {
	return &Model{&fixedWindow{limit: max(limit, 1), window: max(window, 1)}}
}

type fixedWindow struct {
	limit, window int64
	index, count  int64 // the window of the last admission, and the cost admitted in it
}

func (f *fixedWindow) used(t int64) int64 {
	if indexOf(t, f.window) != f.index {
		return 0
	}
	return f.count
}

func (f *fixedWindow) untilEnd(t int64) int64 { return (indexOf(t, f.window)+1)*f.window - t }

func (f *fixedWindow) capacity() int64 { return f.limit }

func (f *fixedWindow) fits(t, n int64) bool { return f.used(t)+n <= f.limit }

func (f *fixedWindow) remaining(t int64) int64 { return f.limit - f.used(t) }

func (f *fixedWindow) wait(t, _ int64) int64 { return f.untilEnd(t) }

func (f *fixedWindow) reset(t int64) int64 {
	if f.used(t) == 0 {
		return 0
	}
	return f.untilEnd(t)
}

func (f *fixedWindow) record(t, n int64) {
	f.index, f.count = indexOf(t, f.window), f.used(t)+n
}

func (f *fixedWindow) clone() rule {
	c := *f
	return &c
}

// indexOf returns the number of the aligned window that holds t: t/window rounded down, also below zero.
func indexOf(t, window int64) int64 {
	i := t / window
	if t%window < 0 {
		i--
	}
	return i
}
