package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// settings are what a URL says: about the client, and about the store.
type settings struct {
	*goredis.UniversalOptions
	batch, trips int // 0: not said
}

// parseURL reads a URL whose host may be a list, which package net/url refuses. No error
// quotes what could be part of a password.
func parseURL(raw string) (*settings, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	secure := strings.HasPrefix(scheme, "rediss")
	kind, known := strings.CutPrefix(strings.Replace(scheme, "rediss", "redis", 1), "redis")
	if !ok || !known || !slices.Contains([]string{"", "+cluster", "+sentinel"}, kind) {
		return nil, errors.New("redis: URL scheme: want redis, redis+cluster, redis+sentinel, or these with rediss for TLS, then ://")
	}
	o := &settings{UniversalOptions: &goredis.UniversalOptions{IsClusterMode: kind == "+cluster"}}
	if secure {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}

	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	if strings.Contains(tail, "@") {
		return nil, errors.New(`redis: URL: an "@" after the host: want "/", "?", "#" and "@" percent-encoded in user, password and names`)
	}
	path, query, _ := strings.Cut(tail, "?")
	if strings.Contains(tail, "#") {
		return nil, errors.New("redis: URL fragment: want none")
	}

	hosts := authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		hosts = authority[i+1:]
		if err := setUser(o, authority[:i]); err != nil {
			return nil, err
		}
	}
	if err := setHosts(o, hosts, kind); err != nil {
		return nil, err
	}
	if err := setPath(o, strings.Trim(path, "/"), kind); err != nil {
		return nil, err
	}
	return o, setParameters(o, query)
}

func setUser(o *settings, info string) error {
	user, password, ok := strings.Cut(info, ":")
	if !ok {
		return errors.New("redis: URL user: want user:password@ or :password@")
	}
	var userErr, passwordErr error
	o.Username, userErr = url.PathUnescape(user)
	o.Password, passwordErr = url.PathUnescape(password)
	if userErr != nil || passwordErr != nil {
		return errors.New(`redis: URL user or password: want "%" percent-encoded, as %25`)
	}
	return nil
}

func setHosts(o *settings, hosts, kind string) error {
	port := "6379"
	if kind == "+sentinel" {
		port = "26379"
	}
	for host := range strings.SplitSeq(hosts, ",") {
		addr, err := hostPort(host, port)
		if err != nil {
			return err
		}
		o.Addrs = append(o.Addrs, addr)
	}
	if kind == "" && len(o.Addrs) > 1 {
		return errors.New("redis: URL host: want one, or redis+cluster or redis+sentinel for several")
	}
	return nil
}

func hostPort(host, port string) (string, error) {
	if name, p, err := net.SplitHostPort(host); err == nil {
		host, port = name, p
	} else if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "", errors.New("redis: URL host: want host:port, and an IPv6 address in brackets")
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host == "" || strings.ContainsAny(host, " []") {
		return "", errors.New("redis: URL host: want a name or address")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("redis: URL port: want 1 to 65535")
	}
	return net.JoinHostPort(host, port), nil
}

func setPath(o *settings, path, kind string) error {
	database := path
	switch kind {
	case "+sentinel":
		var name string
		name, database, _ = strings.Cut(path, "/")
		master, err := url.PathUnescape(name)
		if err != nil || master == "" {
			return errors.New("redis: URL path: want the name under which Sentinel knows the primary, as in /mymaster/0")
		}
		o.MasterName = master
	case "+cluster":
		if path != "" && path != "0" {
			return errors.New("redis: URL path: want none, a cluster has only database 0")
		}
	}
	if database == "" {
		return nil
	}
	n, err := strconv.ParseUint(database, 10, 31)
	if err != nil {
		return errors.New("redis: URL database: want a whole number, as in /0")
	}
	o.DB = int(n)
	return nil
}

// parameters are what may follow the "?": what each wants, and how it is set, which
// tells whether the value is valid.
var parameters = []struct {
	name, want string
	set        func(o *settings, value string) bool
}{
	{"dial_timeout", "a duration above 0, such as 500ms", func(o *settings, v string) bool { return setDuration(&o.DialTimeout, v) }},
	{"read_timeout", "a duration above 0, such as 500ms", func(o *settings, v string) bool { return setDuration(&o.ReadTimeout, v) }},
	{"write_timeout", "a duration above 0, such as 500ms", func(o *settings, v string) bool { return setDuration(&o.WriteTimeout, v) }},
	{"pool_size", "1 to 100000", func(o *settings, v string) bool { return setInt(&o.PoolSize, v, 1, 100_000) }},
	{"protocol", "2 or 3", func(o *settings, v string) bool { return setInt(&o.Protocol, v, 2, 3) }},
	{"client_name", "a name without spaces", func(o *settings, v string) bool {
		o.ClientName = v
		return v != "" && !strings.ContainsAny(v, " \r\n")
	}},
	{"batch", "1 to 512", func(o *settings, v string) bool { return setInt(&o.batch, v, 1, maxBatch) }},
	{"trips", "1 to 1000", func(o *settings, v string) bool { return setInt(&o.trips, v, 1, maxTrips) }},
	{"skip_verify", "true or false, and a scheme with TLS", func(o *settings, v string) bool {
		skip, err := strconv.ParseBool(v)
		if err != nil || o.TLSConfig == nil {
			return false
		}
		o.TLSConfig.InsecureSkipVerify = skip
		return true
	}},
}

func setParameters(o *settings, query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("redis: URL parameters: want name=value, joined by &")
	}
	for _, p := range parameters {
		given := values[p.name]
		delete(values, p.name)
		if len(given) > 1 {
			return fmt.Errorf("redis: URL parameter %s: want it once", p.name)
		}
		if len(given) == 1 && !p.set(o, given[0]) {
			return fmt.Errorf("redis: URL parameter %s=%q: want %s", p.name, given[0], p.want)
		}
	}
	if len(values) > 0 {
		known := make([]string, len(parameters))
		for i, p := range parameters {
			known[i] = p.name
		}
		return fmt.Errorf("redis: URL parameter %q: want one of %s", slices.Sorted(maps.Keys(values))[0], strings.Join(known, ", "))
	}
	return nil
}

func setDuration(to *time.Duration, value string) bool {
	d, err := time.ParseDuration(value)
	*to = d
	return err == nil && d > 0
}

func setInt(to *int, value string, least, most int) bool {
	n, err := strconv.Atoi(value)
	*to = n
	return err == nil && n >= least && n <= most
}
