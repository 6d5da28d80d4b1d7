// Package browser_test opens the reports in a real Chromium. It is a module of its own, so that nobody who
// imports a limiter carries what drives a browser.
package browser_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// view is how a page is looked at.
type view struct {
	width  int64
	scheme string // "light" or "dark"
	script bool
}

var (
	desktop = view{width: 1280, scheme: "light", script: true}
	night   = view{width: 1280, scheme: "dark", script: true}
	phone   = view{width: 390, scheme: "dark", script: true}
	mute    = view{width: 1280, scheme: "light"}
)

// tab is a page in the browser, and all that it has said and asked for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	said     []string // to the console, exceptions too
	requests []string
}

// newBrowser starts a browser that ends with t. Without one t is skipped, or fails where servers are required.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, _ = exec.LookPath(name); path != "" {
			break
		}
	}
	if path == "" && os.Getenv("WEIR_REQUIRE_SERVERS") != "1" {
		t.Skip("not covered here: the report in a browser: chromium is not on PATH")
	}
	require.NotEmpty(t, path, "chromium is not on PATH")
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to start as root with one
	}
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
	return ctx
}

// open shows a file in a tab of its own.
func open(t *testing.T, browser context.Context, file string, v view) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
	require.NoError(t, chromedp.Listen(ctx, p.hear))
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: v.width, Height: 900, DeviceScaleFactor: 1, Mobile: v.width < 500,
	})
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !v.script})
	p.prefer(v.scheme)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.ToSlash(file))))
	return p
}

func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		p.said = append(p.said, string(e.Type))
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		p.said = append(p.said, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			p.requests = append(p.requests, e.Request.URL)
		}
	}
}

// prefer sets the colour scheme that the page is told of.
func (p *tab) prefer(scheme string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, command, params)
	require.NoError(p.t, err)
}

// eval returns the value of an expression in the page; of a promise, what comes of it.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err)
	return v
}

// quiet requires that the page asked for nothing but itself and had nothing to say.
func (p *tab) quiet(file string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.said)
	require.Equal(p.t, []string{"file://" + filepath.ToSlash(file)}, p.requests)
}
