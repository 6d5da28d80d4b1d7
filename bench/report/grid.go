package report

import "slices"

// grid is rows of two keys, the algorithm and the store, and of cells in groups of columns. A narrow
// page may show the groups one below the other.
type grid struct {
	id, title string
	groups    []group
	rows      []row
	storeless bool // the figures are the algorithm's own: the best is so among all stores
}

type group struct {
	title   string
	columns []column
}

type column struct {
	title  string
	better better
	words  bool    // holds text, not numbers
	fold   int     // how wide words are where the table would be too wide; 0: foldWidth
	enough float64 // no lower value is better: keeping below a limit is not what a limiter is for
}

// better tells which end of a column is best.
type better int

const (
	neither better = iota
	lower
	higher
)

type row struct {
	algorithm, store string
	instead          string // stands in place of all cells: "needs script"
	aside            bool   // to compare with, no choice: never the best
	cells            []cell
}

type cell struct {
	text   string
	value  float64 // for order and for the best
	spread float64 // of the value, in parts of it
	known  bool    // false: no figure; text says why
	best   bool
}

func number(text string, value float64) cell { return cell{text: text, value: value, known: true} }
func words(text string) cell                 { return cell{text: text} }

func (t *grid) columns() []column {
	var all []column
	for _, g := range t.groups {
		all = append(all, g.columns...)
	}
	return all
}

// arrange orders the rows and marks the best.
func (t *grid) arrange() {
	t.byStore()
	t.markBest()
}

// byStore brings the rows of one store together, in the order in which the stores first come.
func (t *grid) byStore() {
	var stores []string
	for _, r := range t.rows {
		if !slices.Contains(stores, r.store) {
			stores = append(stores, r.store)
		}
	}
	slices.SortStableFunc(t.rows, func(a, b row) int { return slices.Index(stores, a.store) - slices.Index(stores, b.store) })
}

// markBest marks the best cells of each column among the rows of one store, since one chooses an
// algorithm for a store; where every store has one row only, among the stores. Where all are equal
// none is marked.
func (t *grid) markBest() {
	scopes := map[string][]int{}
	var all []int
	several := false
	for i, r := range t.rows {
		if r.instead != "" || r.aside {
			continue
		}
		scopes[r.store] = append(scopes[r.store], i)
		all = append(all, i)
		several = several || len(scopes[r.store]) > 1
	}
	if !several || t.storeless {
		scopes = map[string][]int{"": all}
	}
	for at, col := range t.columns() {
		for _, scope := range scopes {
			t.markColumn(at, col, scope)
		}
	}
}

func (t *grid) markColumn(at int, col column, scope []int) {
	scope = slices.DeleteFunc(slices.Clone(scope), func(i int) bool { return !t.rows[i].cells[at].known })
	if col.better == neither || len(scope) < 2 {
		return
	}
	rank := func(i int) cell {
		c := t.rows[i].cells[at]
		c.value = max(c.value, col.enough)
		return c
	}
	best := rank(scope[0])
	for _, i := range scope {
		c := rank(i)
		if col.better == lower && c.value < best.value || col.better == higher && c.value > best.value {
			best = c
		}
	}
	ties := slices.DeleteFunc(slices.Clone(scope), func(i int) bool {
		c := rank(i)
		return c.text != best.text && !overlap(c.value, c.spread, best.value, best.spread)
	})
	if len(ties) == len(scope) {
		return
	}
	for _, i := range ties {
		t.rows[i].cells[at].best = true
	}
}

// overlap takes each value as the middle of its spread.
func overlap(a, aSpread, b, bSpread float64) bool {
	if a > b {
		a, aSpread, b, bSpread = b, bSpread, a, aSpread
	}
	return a+a*aSpread/2 >= b-b*bSpread/2
}
