package report

import (
	"fmt"
	"strings"

	"github.com/weirlimits/weir/internal/digits"
)

// list joins names for a sentence.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// end is one end of what was compared: who, where, and the point.
type end struct {
	name, store string
	at          point
}

func (e end) String() string { return e.name + " on " + e.store }

// ends returns who has the lowest and the highest value of a panel. pick chooses a series' point; false is none.
func ends(p panel, pick func(series) (point, bool), value func(point) float64) (low, high end, n int) {
	for _, s := range p.Series {
		at, ok := pick(s)
		if !ok || s.Look == asideLook {
			continue
		}
		e := end{s.Name, p.Title, at}
		if n == 0 || value(at) < value(low.at) {
			low = e
		}
		if n == 0 || value(at) > value(high.at) {
			high = e
		}
		n++
	}
	return low, high, n
}

// nth picks the point at an index.
func nth(i int) func(series) (point, bool) {
	return func(s series) (point, bool) {
		if i >= len(s.Points) {
			return point{}, false
		}
		return s.Points[i], true
	}
}

// last picks the last point.
func last(s series) (point, bool) { return nth(max(0, len(s.Points)-1))(s) }

// widest says of the store where the values lie furthest apart how far they do.
func widest(panels []panel, pick func(series) (point, bool), value func(point) float64, what string) string {
	var low, high end
	several := false
	for _, p := range panels {
		l, h, n := ends(p, pick, value)
		if n > 1 && value(l.at) > 0 && (!several || value(h.at)/value(l.at) > value(high.at)/value(low.at)) {
			low, high, several = l, h, true
		}
	}
	switch {
	case !several:
		for _, p := range panels {
			if l, _, n := ends(p, pick, value); n > 0 {
				return fmt.Sprintf("%s took %s on %s.", l.name, l.at.Text+what, l.store)
			}
		}
		return ""
	case low.at.Text == high.at.Text:
		return fmt.Sprintf("On every store all took the same, such as %s on %s.", low.at.Text+what, low.store)
	}
	return fmt.Sprintf("On %s, %s took %s and %s %s: %s as much.",
		low.store, low.name, low.at.Text+what, high.name, high.at.Text, times(value(high.at)/value(low.at)))
}

// grew says which series of all grew most from its first point to its last.
func grew(panels []panel, what, over string, text func(float64) string) string {
	var most end
	var from point
	ratio := 0.0
	for _, p := range panels {
		for _, s := range p.Series {
			if len(s.Points) < 2 || s.Look == asideLook || s.Points[0].Y <= 0 {
				continue
			}
			first, final := s.Points[0], s.Points[len(s.Points)-1]
			if q := final.Y / first.Y; q > ratio {
				ratio, most, from = q, end{s.Name, p.Title, final}, first
			}
		}
	}
	switch {
	case ratio == 0:
		return ""
	case ratio < 1.1:
		return fmt.Sprintf("From %s to %s %s, %s grew by less than a tenth everywhere.", digits.Group(int64(from.X)), digits.Group(int64(most.at.X)), over, what)
	}
	return fmt.Sprintf("From %s to %s %s, %s of %s grew %s, from %s to %s.",
		digits.Group(int64(from.X)), digits.Group(int64(most.at.X)), over, what, most, fold(ratio), text(from.Y), text(most.at.Y))
}

// times prints a ratio of two values: "1.8 times".
func times(v float64) string { return ratioText(v) + " times" }

// fold prints growth: "7,000-fold".
func fold(v float64) string { return ratioText(v) + "-fold" }

func ratioText(v float64) string {
	switch {
	case v >= 1000:
		return rough(v)
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}
