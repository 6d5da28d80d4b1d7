package hammer_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/bench/hammer"
)

const (
	setupLine = `{"setup":{"store":"memory:","workers":2}}`
	taskLine  = `{"task":{"algorithm":"gcra","limit":"3/1h","prefix":"p","key":"k","requests":9}}`
	fireLine  = `{"fire":true}`
)

func work(t *testing.T, orders ...string) (replies []string) {
	var out bytes.Buffer
	require.NoError(t, hammer.Work(t.Context(), strings.NewReader(strings.Join(orders, "\n")), &out))
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func TestWorkerObeysInTurn(t *testing.T) {
	tally := `{"tally":{"allowed":3,"denied":6,"errors":0}}`
	other := strings.Replace(taskLine, `"k"`, `"k2"`, 1)
	// The input is open until the last answer: its end would stop the run.
	in, orders := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- hammer.Work(t.Context(), in, out) }()
	d := json.NewDecoder(answers)
	for _, step := range []struct{ order, reply string }{
		{setupLine, `{}`},
		{taskLine, `{}`},
		{fireLine, tally},
		{other, `{}`},
		{fireLine, tally},
		{taskLine, `{}`},
		{fireLine, `{"tally":{"allowed":0,"denied":9,"errors":0}}`}, // the key was used
	} {
		_, err := io.WriteString(orders, step.order)
		require.NoError(t, err)
		var reply json.RawMessage
		require.NoError(t, d.Decode(&reply))
		require.JSONEq(t, step.reply, string(reply))
	}
	require.NoError(t, orders.Close())
	require.NoError(t, <-done)
}

func TestWorkerRefusesWhatItCannotDo(t *testing.T) {
	for name, c := range map[string]struct {
		order string
		want  string
	}{
		"a task before the setup":      {taskLine, "order out of turn"},
		"a fire before a task":         {fireLine, "order out of turn"},
		"an order that says nothing":   {`{}`, "order out of turn"},
		"a store that there is not":    {`{"setup":{"store":"nosuch:","workers":1}}`, "nosuch"},
		"an algorithm that is unknown": {setupLine + strings.Replace(taskLine, "gcra", "nosuch", 1), "algorithm"},
		"a limit that is none":         {setupLine + strings.Replace(taskLine, "3/1h", "0/1h", 1), "limit count"},
		"a prefix that is none":        {setupLine + strings.Replace(taskLine, `"p"`, `"a b"`, 1), "prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			replies := work(t, c.order)
			require.Contains(t, replies[len(replies)-1], c.want)
		})
	}
}

func TestWorkerReportsAnInputThatBreaks(t *testing.T) {
	err := hammer.Work(t.Context(), strings.NewReader(`{"setup":`), io.Discard)
	require.ErrorContains(t, err, "hammer: worker's input")
}

// A worker whose parent is gone, even in the middle of a run, sees its input end.
func TestWorkerEndsWithItsInput(t *testing.T) {
	cmd := worker()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	d := json.NewDecoder(out)
	for _, order := range []string{setupLine, strings.Replace(taskLine, `"requests":9`, `"requests":1000000000000`, 1)} {
		_, err := io.WriteString(in, order)
		require.NoError(t, err)
		var reply map[string]any
		require.NoError(t, d.Decode(&reply))
		require.Empty(t, reply)
	}
	_, err = io.WriteString(in, fireLine)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait(), "it ended long before all requests were made, and in order")
}
