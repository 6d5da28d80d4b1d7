package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/weirlimits/weir/bench/report"
)

// lineEvery is how often progress is told where there is no terminal for a bar.
const lineEvery = 10 * time.Second

// isTerminal reports whether a stream is one that a person looks at.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// color reports whether standard output may be coloured.
func (c *common) color() bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(c.stdout)
}

// textOptions are how text looks where standard output goes.
func (c *common) textOptions() *report.Options {
	opts := &report.Options{Color: c.color()}
	if isTerminal(c.stdout) {
		// The error leaves the usual width.
		opts.Width, _, _ = term.GetSize(int(c.stdout.(*os.File).Fd()))
	}
	return opts
}

// reporter tells how far a run is: a bar on a terminal, a plain line now and then elsewhere.
type reporter struct {
	out  io.Writer
	last time.Time // of the last plain line
	bar  *progress.Tracker
	pw   progress.Writer
	done chan struct{}
}

// newReporter starts to tell. Its end is stop. It is for one goroutine.
func (c *common) newReporter() *reporter {
	r := &reporter{out: c.stderr, last: time.Now()}
	if !isTerminal(c.stderr) || os.Getenv("TERM") == "dumb" {
		return r
	}
	r.pw = progress.NewWriter()
	r.pw.SetOutputWriter(c.stderr)
	r.pw.SetUpdateFrequency(100 * time.Millisecond)
	r.pw.SetTrackerLength(24)
	r.pw.SetMessageLength(56)
	r.pw.SetTrackerPosition(progress.PositionRight)
	if width, _, err := term.GetSize(int(c.stderr.(*os.File).Fd())); err == nil {
		r.pw.SetTerminalWidth(width)
	}
	r.pw.Style().Visibility.Value = false
	r.pw.Style().Options.TimeInProgressPrecision = time.Second
	r.bar = &progress.Tracker{Message: "starting", Total: 1}
	r.pw.AppendTracker(r.bar)
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		r.pw.Render()
	}()
	return r
}

// step says what is going on, as the step done of total.
func (r *reporter) step(what string, done, total int) {
	what = printable(what)
	if r.bar != nil {
		r.bar.UpdateMessage(what)
		r.bar.UpdateTotal(int64(max(total, 1)))
		r.bar.SetValue(int64(min(done, total-1))) // the last one ends with stop
		return
	}
	if now := time.Now(); now.Sub(r.last) >= lineEvery {
		r.last = now
		fmt.Fprintf(r.out, "%d of %d: %s\n", done, total, what)
	}
}

// stop takes the bar away.
func (r *reporter) stop() {
	if r.bar == nil {
		return
	}
	r.pw.Stop()
	<-r.done
	fmt.Fprint(r.out, text.CursorUp.Sprint()+text.EraseLine.Sprint()) // the bar's one line
}
