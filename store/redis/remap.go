package redis

import (
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"
)

// remap has a cluster's client read the map of slots again if a node did not answer, or does not serve. The library
// does so when it repeats a command, which here it never may; without this it would ask a node that has failed
// until its map is a minute old, however soon a replica has taken over. It reads in the background, and not more
// often than five times a second.
func (s *Store) remap(ctx context.Context, cmds []goredis.Cmder) {
	cluster, ok := s.client.(*goredis.ClusterClient)
	if !ok || s.closed.Load() {
		return
	}
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && lost(err) {
			cluster.ReloadState(ctx)
			return
		}
	}
}

// lost tells an error that may come of an old map from one that the right node gave.
func lost(err error) bool {
	var answer goredis.Error
	if !errors.As(err, &answer) {
		return true
	}
	return goredis.HasErrorPrefix(err, "CLUSTERDOWN")
}
