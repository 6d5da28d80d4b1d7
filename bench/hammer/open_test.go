package hammer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
)

func TestOpen(t *testing.T) {
	for url, want := range map[string]store.Class{
		"memory:":                                store.ClassScript,
		"memcache://127.0.0.1:11299":             store.ClassSwap,
		"memcache://127.0.0.1,[::1]/":            store.ClassSwap,
		"memcache+counter://127.0.0.1":           store.ClassCounter,
		"redis://user:secret@127.0.0.1:1/3":      store.ClassScript,
		"rediss://127.0.0.1":                     store.ClassScript,
		"redis+cluster://127.0.0.1:1,127.0.0.2":  store.ClassScript,
		"redis+sentinel://127.0.0.1:1/primary/0": store.ClassScript,
	} {
		st, err := open(url, 100)
		require.NoError(t, err, url)
		require.Equal(t, want, st.Traits().Class(), url)
		require.NoError(t, st.Close())
	}
	_, err := open("nosuch://user:secret@127.0.0.1", 1)
	require.ErrorContains(t, err, `store scheme "nosuch"`)
	require.NotContains(t, err.Error(), "secret")
}
