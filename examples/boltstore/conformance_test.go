package boltstore_test

import (
	"context"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/weirlimits/weir/conformance"
	"github.com/weirlimits/weir/examples/boltstore"
	"github.com/weirlimits/weir/store"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Config{
		Open: func(context.Context) (store.Store, error) {
			return boltstore.Open(filepath.Join(t.TempDir(), "limits.db"), &bbolt.Options{NoSync: true})
		},
	})
}
