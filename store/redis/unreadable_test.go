package redis

import (
	"bufio"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/store"
)

// What the client cannot read is a garbled reply.
func TestUnreadableReplies(t *testing.T) {
	for _, reply := range []string{"\x00\xff\r\n", "+OK\r\n", "$1\r\n1\r\n", "*2\r\n:1\r\n#t\r\n", "*2\r\n:1\r\n:x\r\n", "*x\r\n", "\r\n"} {
		st, err := Open("redis://"+answering(t, reply)+"?protocol=2", nil)
		require.NoError(t, err)
		_, err = st.prepare(quota["value"], "").Run(t.Context(), "k", quotaArgs(1))
		require.ErrorIs(t, err, store.ErrGarbled, "%q", reply)
		require.NoError(t, st.Close())
	}
}

// answering takes connections and gives the same reply to every script.
func answering(t *testing.T, reply string) string {
	return talking(t, func(c net.Conn) {
		for r := bufio.NewReader(c); ; {
			line, err := r.ReadString('\n')
			switch {
			case err != nil:
				return
			case line == "hello\r\n":
				_, _ = io.WriteString(c, "-ERR unknown command\r\n")
			case line == "evalsha\r\n":
				_, _ = io.WriteString(c, reply)
			case line == "client\r\n":
				_, _ = io.WriteString(c, "+OK\r\n")
			}
		}
	})
}
