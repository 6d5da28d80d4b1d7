package delay

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// These run in simulated time, so they can say exactly when each piece arrives.

func TestPiecesAreUnderWayTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			latency = time.Second
			every   = 10 * time.Millisecond
			pieces  = 500
		)
		sender, from := net.Pipe()
		to, receiver := net.Pipe()
		l := newLine(from, to, latency)
		var wg sync.WaitGroup
		wg.Go(l.receive)
		var orderly bool
		wg.Go(func() { orderly = l.deliver(t.Context()) })

		start := time.Now()
		wg.Go(func() {
			defer sender.Close()
			for i := range pieces {
				fmt.Fprintf(sender, "%08d", i)
				time.Sleep(every)
			}
		})
		buf := make([]byte, 8)
		for i := range pieces {
			_, err := io.ReadFull(receiver, buf)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%08d", i), string(buf), "order")
			require.Equal(t, latency+time.Duration(i)*every, time.Since(start), "piece %d", i)
		}
		_, err := receiver.Read(buf)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, latency+pieces*every, time.Since(start), "the end is as late as the bytes")
		wg.Wait()
		require.True(t, orderly)
	})
}

func TestBrokenSenderIsNotAnOrderlyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, from := net.Pipe()
		to, receiver := net.Pipe()
		defer receiver.Close()
		defer to.Close()
		l := newLine(from, to, time.Second)
		from.Close() // reading from it now fails with something else than io.EOF
		var wg sync.WaitGroup
		wg.Go(l.receive)
		start := time.Now()
		require.False(t, l.deliver(t.Context()))
		require.Equal(t, time.Second, time.Since(start))
		wg.Wait()
	})
}

func TestContextEndsBothHalvesOfALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sender, from := net.Pipe()
		to, receiver := net.Pipe()
		defer receiver.Close()
		defer to.Close()
		l := newLine(from, to, time.Hour)
		var receiving, sending sync.WaitGroup
		receiving.Go(l.receive)
		sending.Go(func() { _, _ = sender.Write(make([]byte, maxQueued+2*readSize)) })
		start := time.Now()
		require.False(t, l.deliver(ctx))
		require.Equal(t, time.Second, time.Since(start))
		receiving.Wait() // it waited for room in the queue
		sender.Close()
		sending.Wait()
	})
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		data := make([]byte, readSize)
		for range maxQueued / readSize {
			require.True(t, q.put(piece{data: data}))
		}
		var results []bool
		putOne := func() { results = append(results, q.put(piece{data: data})) }

		go putOne()
		synctest.Wait()
		require.Empty(t, results, "a full queue makes the sender wait")
		q.take()
		synctest.Wait()
		require.Equal(t, []bool{true}, results)

		go putOne()
		synctest.Wait()
		require.Len(t, results, 1)
		q.abandon()
		synctest.Wait()
		require.Equal(t, []bool{true, false}, results, "an abandoned queue lets the sender go")
	})
}
