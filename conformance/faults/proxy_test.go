package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
	goredis "github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	toxics.Register("reply", &reply{})
	goredis.SetLogger(quiet{}) // the client prints every failure that is meant here
	os.Exit(m.Run())
}

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// reply is a toxic that changes what the server answered: by then it has done what it was told.
type reply struct {
	Begins string `json:"begins"` // only replies that begin so, and not those of a handshake
	Old    []byte `json:"old"`    // is replaced by new, everywhere; without it new replaces all
	New    []byte `json:"new"`
	More   []byte `json:"more"` // is added at the end
	Cut    bool   `json:"cut"`  // ends the connection then
}

// Pipe implements [toxics.Toxic].
func (r *reply) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			changed := bytes.HasPrefix(c.Data, []byte(r.Begins))
			if changed {
				c = &stream.StreamChunk{Timestamp: c.Timestamp, Data: r.change(c.Data)}
			}
			if len(c.Data) > 0 {
				stub.Output <- c
			}
			if changed && r.Cut {
				stub.Close()
				return
			}
		}
	}
}

func (r *reply) change(data []byte) []byte {
	switch {
	case r.Old != nil:
		data = bytes.ReplaceAll(data, r.Old, r.New)
	case r.More == nil:
		data = r.New
	}
	return append(bytes.Clone(data), r.More...)
}

// way is how the callers reach the server, and what is wrong with it.
type way struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
}

// newWay returns a way to the server at addr.
func newWay(t *testing.T, addr string) *way {
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(api, t.Name(), "127.0.0.1:0", addr)
	require.NoError(t, p.Start())
	t.Cleanup(p.Stop)
	return &way{t, p}
}

// worsen adds a toxic to the replies of all connections.
func (w *way) worsen(kind string, attributes any) {
	text, err := json.Marshal(map[string]any{"name": kind, "type": kind, "attributes": attributes})
	require.NoError(w.t, err)
	_, err = w.proxy.Toxics.AddToxicJson(bytes.NewReader(text))
	require.NoError(w.t, err)
}

// mend takes it away again.
func (w *way) mend(kind string) {
	require.NoError(w.t, w.proxy.Toxics.RemoveToxic(context.Background(), kind))
}

// abrupt makes every connection that is opened from now on end with a reset, whoever ends it: the
// library sets that for connections under its own toxic, which itself never strikes here.
func (w *way) abrupt() {
	_, err := w.proxy.Toxics.AddToxicJson(bytes.NewReader([]byte(`{"type": "reset_peer", "toxicity": 0}`)))
	require.NoError(w.t, err)
}
