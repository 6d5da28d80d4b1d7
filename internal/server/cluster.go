package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	clusterSlots = 16384
	// NodeTimeout is after how long without an answer the nodes of a [Cluster] hold one of them for failed.
	NodeTimeout = time.Second
)

// A Cluster is a Redis Cluster. The roles are those at the start: after a failover a replica is a master.
type Cluster struct {
	Masters  []*Server // in the order of the slots, of which each has an equal part
	Replicas []*Server // the first of each master, in the masters' order, then the second of each
}

// StartCluster starts a cluster of so many masters, each with so many replicas, and returns once every node
// finds it in order and every replica follows its master. It fails over by itself, see [NodeTimeout], and goes on to
// serve the other slots where a master is gone (cluster-require-full-coverage is no). It lives until Stop, or until ctx ends.
// The error is as that of [StartRedis].
func StartCluster(ctx context.Context, masters, replicas int) (*Cluster, error) {
	if masters < 1 || masters > clusterSlots || replicas < 0 {
		return nil, fmt.Errorf("server: a cluster of %d masters with %d replicas each: want at least one master, and none or more", masters, replicas)
	}
	c := new(Cluster)
	if err := c.start(ctx, masters, replicas); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// Nodes returns the masters, then the replicas.
func (c *Cluster) Nodes() []*Server {
	return append(c.Masters[:len(c.Masters):len(c.Masters)], c.Replicas...)
}

// URL is by which a store is opened on the cluster.
func (c *Cluster) URL() string { return "redis+cluster://" + addresses(c.Nodes()) }

// Stop ends all nodes, as [Server.Stop] does.
func (c *Cluster) Stop() error { return stopAll(c.Nodes()) }

func (c *Cluster) start(ctx context.Context, masters, replicas int) error {
	var buses []int
	for i := range masters * (1 + replicas) {
		s, bus, err := startNode(ctx)
		if err != nil {
			return err
		}
		buses = append(buses, bus)
		if i < masters {
			c.Masters = append(c.Masters, s)
		} else {
			c.Replicas = append(c.Replicas, s)
		}
	}
	var ids []string // of the masters
	for i, s := range c.Nodes() {
		err := withClient(s, func(node *goredis.Client) error {
			if i < masters {
				id, err := node.Do(ctx, "cluster", "myid").Text()
				if err != nil {
					return err
				}
				ids = append(ids, id)
				// Without an epoch of its own each would have to find out that another has the same.
				if err := node.Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil {
					return err
				}
				if err := node.ClusterAddSlotsRange(ctx, i*clusterSlots/masters, (i+1)*clusterSlots/masters-1).Err(); err != nil {
					return err
				}
			}
			for j, other := range c.Nodes()[:i] { // everybody meets everybody: gossip takes longer
				if err := node.Do(ctx, "cluster", "meet", "127.0.0.1", other.Port, buses[j]).Err(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, s := range c.Replicas {
		if err := await(ctx, s, "following its master", func(node *goredis.Client) bool {
			return node.ClusterReplicate(ctx, ids[i%masters]).Err() == nil // not before it has met it
		}); err != nil {
			return err
		}
	}
	for i, s := range c.Nodes() {
		if err := await(ctx, s, "joining the cluster", func(node *goredis.Client) bool {
			return inOrder(ctx, node, len(c.Nodes()), len(c.Replicas)) && (i < masters || follows(ctx, node))
		}); err != nil {
			return err
		}
	}
	return nil
}

// startNode starts a node that knows no other, and returns the port by which others are to know it.
func startNode(ctx context.Context) (s *Server, bus int, err error) {
	for range attempts {
		if bus, err = freePort(); err != nil {
			return nil, 0, fmt.Errorf("server: no free loopback port for the cluster's bus: %w", err)
		}
		s, err = StartRedis(ctx, &RedisOptions{Args: append([]string{
			"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus), "--cluster-require-full-coverage", "no",
			"--cluster-node-timeout", strconv.FormatInt(NodeTimeout.Milliseconds(), 10),
		}, promptly...)})
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return s, bus, err
}

// inOrder tells whether the node finds the cluster whole, and knows every replica for one.
func inOrder(ctx context.Context, node *goredis.Client, nodes, replicas int) bool {
	info, err := node.ClusterInfo(ctx).Result()
	if err != nil || !strings.Contains(info, "cluster_state:ok\r\n") || !strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r\n", nodes)) {
		return false
	}
	list, err := node.ClusterNodes(ctx).Result()
	return err == nil && strings.Count(list, "slave ") == replicas && !strings.Contains(list, "fail")
}
