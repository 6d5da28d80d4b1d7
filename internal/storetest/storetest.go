// Package storetest gives a test every store there is: in process, the stand-ins,
// and real servers where they are installed.
package storetest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
	"github.com/weirlimits/weir/store/memory"
)

// Memory returns a store in this process.
func Memory(t testing.TB) store.Store {
	s := memory.New(nil)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Prefix returns a key prefix for the test: the same at each call within it, and not
// used by any other.
func Prefix(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && !strings.ContainsRune("/{}", r) {
			return r
		}
		return '_'
	}, t.Name())
	if len(name) > 40 {
		name = name[len(name)-40:]
	}
	return fmt.Sprintf("%s.%d.", name, os.Getpid())
}

// NoKeys fails the test if one of the keys exists. Only stores that can tell are asked.
func NoKeys(t testing.TB, st store.Store, keys []string) {
	t.Helper()
	if s, ok := st.(store.Swapper); ok {
		for _, key := range keys {
			_, version, err := s.Load(context.Background(), key)
			require.NoError(t, err)
			require.Empty(t, version, "%s exists", key)
		}
	}
}

// Each runs fn on every store.
func Each(t *testing.T, fn func(t *testing.T, st store.Store)) {
	t.Run("memory", func(t *testing.T) { fn(t, Memory(t)) })
}
