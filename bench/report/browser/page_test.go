package browser_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/report"
)

const most = 3 << 20 // bytes of a page

// write keeps what render writes in a file that ends with t.
func write(t *testing.T, render func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, render(&b))
	file := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	return file
}

func everythingPage(t *testing.T) string {
	return write(t, func(b *bytes.Buffer) error { return report.Render(b, everything(), "html", nil) })
}

// TestComparesOwnReport opens what weir compare writes.
func TestComparesOwnReport(t *testing.T) {
	browser := newBrowser(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "./cmd/weir")
	build.Dir = "../../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.CommandContext(t.Context(), filepath.Join(dir, "weir"), "compare", "--quick", "--store", "memory:", "-o", file).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, v := range []view{desktop, phone} {
		require.GreaterOrEqual(t, sound(t, browser, file, v), 6)
	}
}

func TestEveryChart(t *testing.T) {
	browser := newBrowser(t)
	file := everythingPage(t)
	for name, v := range map[string]view{"desktop": desktop, "night": night, "phone": phone} {
		t.Run(name, func(t *testing.T) { require.Equal(t, 14, sound(t, browser, file, v)) })
	}
}

// TestReplay opens what weir replay writes: over time, by the hour, by limit, and what a comparison has of a trace.
func TestReplay(t *testing.T) {
	browser := newBrowser(t)
	file := write(t, func(b *bytes.Buffer) error { return replayed().Render(b, "html", nil) })
	for name, v := range map[string]view{"desktop": desktop, "phone": phone} {
		t.Run(name, func(t *testing.T) { require.Equal(t, 4, sound(t, browser, file, v)) })
	}
	p := open(t, browser, file, desktop)
	// 10 of the 11 algorithms deny something, each panel has a column for each of the 48 hours, and a day begins twice.
	require.Equal(t, 10, eval[int](p, `document.querySelectorAll("#over-time-chart .chart").length`))
	require.ElementsMatch(t, []string{"06-02", "06-03"}, eval[[]string](p, `[...document.querySelector("#over-time-chart .chart").querySelectorAll("svg text")].
		map((el) => el.textContent).filter((s) => /^\d\d-\d\d$/.test(s))`))
	said := eval[string](p, `new Promise((done) => {
		const box = [...document.querySelectorAll("#over-time-chart .chart")].pop();
		box.scrollIntoView();
		const bars = [...box.querySelectorAll("svg path")].map((el) => el.getBoundingClientRect()).filter((r) => r.width > 1 && r.width < 20 && r.height > 20);
		const bar = bars[bars.length - 1];
		box.querySelector("svg").parentElement.dispatchEvent(new MouseEvent("mousemove", { clientX: (bar.left + bar.right) / 2, clientY: bar.bottom - 3, bubbles: true }));
		setTimeout(() => done(box.querySelector(".tip")?.textContent || "no tip"), 300);
	})`)
	require.Contains(t, said, "230 of 1,000 requests denied")
	p.quiet(file)
}

// sound checks all that must hold of any page at any size, and returns how many figures it has.
func sound(t *testing.T, browser context.Context, file string, v view) int {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(most))
	p := open(t, browser, file, v)

	require.Empty(t, eval[[]string](p, `[...document.querySelectorAll(".chart")].flatMap((box) => {
		const svg = box.querySelector("svg"), name = box.getAttribute("aria-label");
		if (!svg) return [name + ": nothing drawn"];
		const {width, height} = svg.getBoundingClientRect();
		if (Math.abs(width - box.clientWidth) > 1 || height < 50) return [name + ": drawn at " + width + " by " + height];
		return svg.querySelectorAll("path").length < 1 || svg.querySelectorAll("text").length < 2 ? [name + ": empty"] : [];
	})`))
	require.Empty(t, eval[[]string](p, overlaps), "names and numbers in charts")
	require.LessOrEqual(t, eval[int64](p, `document.documentElement.scrollWidth`), v.width, "it does not scroll sideways")
	require.Less(t, eval[float64](p, shifts), 0.01, "nothing moves while it loads")
	require.Zero(t, eval[int](p, `document.querySelectorAll("img").length`), "no name is markup")
	figures := eval[int](p, `[...document.querySelectorAll("figure")].filter((f) => f.querySelector(".chart svg")).length`)
	require.Equal(t, figures, eval[int](p, `document.querySelectorAll("figure").length`))
	p.quiet(file)
	return figures
}

// overlaps lists texts of one chart that cover a tenth of one another, or that leave it.
const overlaps = `[...document.querySelectorAll(".chart")].flatMap((box) => {
	const frame = box.getBoundingClientRect(), found = [];
	const texts = [...box.querySelectorAll("svg text")].map((el) => ({ said: el.textContent, box: el.getBoundingClientRect() }));
	texts.forEach(({ said, box: a }, i) => {
		if (a.left < frame.left - 2 || a.right > frame.right + 2 || a.top < frame.top - 3 || a.bottom > frame.bottom + 3) {
			found.push(box.getAttribute("aria-label") + ": outside: " + said);
		}
		for (const { said: other, box: b } of texts.slice(i + 1)) {
			const area = Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
			if (area > .1 * Math.min(a.width * a.height, b.width * b.height)) found.push(box.getAttribute("aria-label") + ": " + said + " on " + other);
		}
	});
	return found;
})`

// shifts is the sum of the browser's own measure of what moved.
const shifts = `new Promise((done) => {
	let sum = 0;
	new PerformanceObserver((list) => { for (const e of list.getEntries()) sum += e.value; }).observe({ type: "layout-shift", buffered: true });
	requestAnimationFrame(() => setTimeout(() => done(sum)));
})`

func TestColoursFollowTheScheme(t *testing.T) {
	p := open(t, newBrowser(t), everythingPage(t), desktop)
	const colours = `[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector(".chart svg text")).fill]`
	light := eval[[]string](p, colours)
	p.prefer("dark")
	dark := eval[[]string](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(`+colours+`))))`)
	require.NotEqual(t, light[0], dark[0])
	require.NotEqual(t, light[1], dark[1], "charts are drawn again")
}

func TestChartsFollowTheWidth(t *testing.T) {
	p := open(t, newBrowser(t), everythingPage(t), desktop)
	require.Zero(t, eval[int](p, `new Promise((done) => {
		document.body.style.width = "420px";
		setTimeout(() => done([...document.querySelectorAll(".chart")].filter((box) =>
			Math.abs(box.querySelector("svg").getBoundingClientRect().width - box.clientWidth) > 1).length), 500);
	})`))
}

func TestTablesSort(t *testing.T) {
	file := everythingPage(t)
	p := open(t, newBrowser(t), file, desktop)
	// press orders the summary by a column as a person would with a mouse or with the keyboard.
	const press = `(key) => {
		const button = [...document.querySelectorAll("#summary tr.sort button")].find((b) => b.textContent === "max in W");
		button.focus();
		if (document.activeElement !== button) throw new Error("not focused");
		button.click();
		const head = button.parentElement, cells = [...document.querySelectorAll("#summary tbody tr")].map((tr) => tr.cells[head.cellIndex]);
		return [head.getAttribute("aria-sort"), ...cells.map((c) => c.dataset.v || "none")];
	}`
	for _, order := range []string{"ascending", "descending"} {
		got := eval[[]string](p, "("+press+")()")
		require.Equal(t, order, got[0])
		values := got[1:]
		require.Equal(t, []string{"none", "none"}, values[len(values)-2:], "what has no figure is last")
		low, high := "10", "20"
		if order == "descending" {
			low, high = high, low
		}
		require.Equal(t, low, values[0])
		require.Equal(t, high, values[len(values)-3])
	}
	p.quiet(file)
}

func TestTipsAreText(t *testing.T) {
	file := everythingPage(t)
	p := open(t, newBrowser(t), file, desktop)
	said := eval[string](p, `new Promise((done) => {
		const box = document.querySelector("#speed .chart"), row = [...box.querySelectorAll("svg text")].findIndex((el) => el.textContent.startsWith("<img"));
		const at = box.querySelectorAll("svg text")[row].getBoundingClientRect(), frame = box.getBoundingClientRect();
		box.scrollIntoView();
		const bar = box.getBoundingClientRect(), zr = box.querySelector("svg").parentElement;
		const y = bar.top + (at.top + at.bottom) / 2 - frame.top;
		const right = Math.max(...[...box.querySelectorAll("svg path")].map((el) => el.getBoundingClientRect()).filter((r) => r.top < y && r.bottom > y && r.width > 4).map((r) => (r.left + r.right) / 2));
		zr.dispatchEvent(new MouseEvent("mousemove", { clientX: right, clientY: y, bubbles: true }));
		setTimeout(() => done(box.querySelector(".tip b")?.textContent || "no tip"), 300);
	})`)
	require.Equal(t, hostile, said)
	require.Zero(t, eval[int](p, `document.querySelectorAll("img").length`))
	p.quiet(file)
}

func TestWithoutScripts(t *testing.T) {
	p := open(t, newBrowser(t), everythingPage(t), mute)
	require.Equal(t, []int{0, 13}, eval[[]int](p, `[".chart", "section table"].map((s) => [...document.querySelectorAll(s)].filter((el) => el.getClientRects().length > 0).length)`))
}

func TestComparisonOfTwoRuns(t *testing.T) {
	browser := newBrowser(t)
	file := write(t, func(b *bytes.Buffer) error {
		return report.Compare(everything(), slower(), "old.json", hostile).Render(b, "html")
	})
	for _, v := range []view{desktop, phone} {
		require.Zero(t, sound(t, browser, file, v), "tables only")
	}
}
