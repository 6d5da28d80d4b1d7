package oracle

// NewFirstHit returns the rule that admits limit in each window [s, s+window), where a window starts at
// the first admitted request while none is running.
func NewFirstHit(limit, window int64) *Model {
	return &Model{&firstHit{limit: max(limit, 1), window: max(window, 1)}}
}

type firstHit struct {
	limit, window int64
	start, count  int64 // no window has ever started while the count is zero
}

func (f *firstHit) running(t int64) bool { return f.count > 0 && t < f.start+f.window }

func (f *firstHit) used(t int64) int64 {
	if !f.running(t) {
		return 0
	}
	return f.count
}

func (f *firstHit) capacity() int64 { return f.limit }

func (f *firstHit) fits(t, n int64) bool { return f.used(t)+n <= f.limit }

func (f *firstHit) remaining(t int64) int64 { return f.limit - f.used(t) }

func (f *firstHit) wait(t, _ int64) int64 { return f.start + f.window - t }

func (f *firstHit) reset(t int64) int64 {
	if !f.running(t) {
		return 0
	}
	return f.start + f.window - t
}

func (f *firstHit) record(t, n int64) {
	if !f.running(t) {
		f.start, f.count = t, 0
	}
	f.count += n
}

func (f *firstHit) clone() rule {
	c := *f
	return &c
}
