package redis

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/weirlimits/weir/store"
)

//go:embed lua/members_add.lua
var membersAddLua string

//go:embed lua/members_range.lua
var membersRangeLua string

var (
	membersAddScript   = newScript(membersAddLua)
	membersRangeScript = newScript(membersRangeLua)
)

// maxScore is the largest whole number that Redis's scores, floating-point numbers,
// tell from its neighbours.
const maxScore = 1<<53 - 1

// AddMembers implements [store.SortedSet].
func (s *Store) AddMembers(ctx context.Context, key string, ttl time.Duration, members ...store.Member) (int64, error) {
	if err := store.CheckTTL(ttl, maxTTL); err != nil {
		return 0, fmt.Errorf("redis: add members: %w", err)
	}
	args := make([]any, 0, 1+2*len(members))
	args = append(args, px(ttl))
	for _, m := range members {
		if m.Score < -maxScore || m.Score > maxScore {
			return 0, fmt.Errorf("redis: add members: score %d: want %d to %d", m.Score, int64(-maxScore), int64(maxScore))
		}
		args = append(args, m.Score, m.Name)
	}
	n, err := asInt(s.run(ctx, membersAddScript, key, args...))
	if err != nil {
		return 0, fmt.Errorf("redis: add members: %w", err)
	}
	return n, nil
}

// RemoveUpTo implements [store.SortedSet].
func (s *Store) RemoveUpTo(ctx context.Context, key string, max int64) (int64, error) {
	n, err := asInt(s.one(ctx, "zremrangebyscore", key, "-inf", max))
	if err != nil {
		return 0, fmt.Errorf("redis: remove members: %w", err)
	}
	return n, nil
}

// Card implements [store.SortedSet].
func (s *Store) Card(ctx context.Context, key string) (int64, error) {
	n, err := asInt(s.one(ctx, "zcard", key))
	if err != nil {
		return 0, fmt.Errorf("redis: count members: %w", err)
	}
	return n, nil
}

// Range implements [store.SortedSet].
func (s *Store) Range(ctx context.Context, key string, start, stop int64) ([]store.Member, error) {
	reply, err := s.run(ctx, membersRangeScript, key, start, stop)
	var members []store.Member
	if err == nil {
		members, err = parseMembers(reply)
	}
	if err != nil {
		return nil, fmt.Errorf("redis: range: %w", err)
	}
	return members, nil
}

// parseMembers reads names and scores in turn. A score that is not whole is not ours.
func parseMembers(reply any) ([]store.Member, error) {
	pairs, ok := reply.([]any)
	if !ok || len(pairs)%2 != 0 {
		return nil, garbled(reply)
	}
	members := make([]store.Member, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, named := pairs[i].(string)
		text, scored := pairs[i+1].(string)
		if !named || !scored {
			return nil, garbled(reply)
		}
		score, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, store.ErrCorrupt
		}
		members = append(members, store.Member{Score: score, Name: name})
	}
	return members, nil
}
