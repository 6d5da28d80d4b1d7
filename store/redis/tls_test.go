package redis_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirlimits/weir/internal/server"
	"github.com/weirlimits/weir/internal/server/servertest"
	"github.com/weirlimits/weir/store/redis"
)

func TestTLSAndPassword(t *testing.T) {
	dir := t.TempDir()
	authority := selfSigned(t, dir)
	port := strconv.Itoa(freePort(t))
	s, err := server.StartRedis(context.Background(), &server.RedisOptions{
		Password: "p@ss/word",
		Args: []string{
			"--tls-port", port, "--tls-cert-file", filepath.Join(dir, "cert.pem"),
			"--tls-key-file", filepath.Join(dir, "key.pem"), "--tls-ca-cert-file", filepath.Join(dir, "cert.pem"), "--tls-auth-clients", "no",
		},
	})
	servertest.Adopt(t, s, err)

	now := func(user, query string, opts *redis.Options) error {
		st, err := redis.Open("rediss://"+user+"@127.0.0.1:"+port+query, opts)
		require.NoError(t, err)
		defer st.Close()
		_, err = st.Now(t.Context())
		return err
	}
	trusting := &redis.Options{TLS: &tls.Config{RootCAs: authority, MinVersion: tls.VersionTLS12}}
	require.NoError(t, now(":p%40ss%2Fword", "", trusting))
	require.NoError(t, now("default:p%40ss%2Fword", "?skip_verify=true", nil))

	var unknown x509.UnknownAuthorityError
	require.ErrorAs(t, now(":p%40ss%2Fword", "", nil), &unknown)
	err = now(":wr0ng", "", trusting)
	require.ErrorContains(t, err, "WRONGPASS")
	require.NotContains(t, err.Error(), "wr0ng")
}

// selfSigned writes cert.pem and key.pem for 127.0.0.1 and returns who vouches for them.
func selfSigned(t *testing.T, dir string) *x509.CertPool {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "weir test"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cert.pem"), cert, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(cert))
	return pool
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
