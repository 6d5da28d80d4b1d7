package backend

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// target is a store URL, taken apart.
type target struct {
	name    string // the URL without credentials
	kind    string
	private bool
	addrs   []string // host:port

	scheme, credentials, path string // as given; the credentials with their "@"

	tls, cluster   bool // Redis
	master         string
	user, password string
	database       int

	counterOnly bool // memcached
}

const forms = "memory:, redis://host:port/0, rediss://host:port/0, redis+cluster://host,host, redis+sentinel://host,host/name/0, " +
	"memcache://host:port, memcache+counter://host:port, redis:private, memcache:private or memcache+counter:private"

// scheme is one of the words before "://".
type scheme struct {
	kind, port string // the port is the default one
	several    bool   // several hosts may stand there
	credential bool   // user and password may stand there
	read       func(t *target) error
}

func schemeOf(name string) (scheme, bool) {
	redis := scheme{kind: KindRedis, port: "6379", credential: true, read: (*target).readDatabase}
	switch strings.Replace(name, "rediss", "redis", 1) {
	case "redis":
	case "redis+cluster":
		redis.several, redis.read = true, (*target).readCluster
	case "redis+sentinel":
		redis.several, redis.port, redis.read = true, "26379", (*target).readSentinel
	case "memcache", "memcache+counter":
		return scheme{kind: KindMemcache, port: "11211", several: true, read: (*target).readNoPath}, true
	default:
		return scheme{}, false
	}
	return redis, true
}

// parse reads a store URL. Package net/url refuses lists of hosts. Whatever stands
// before the last "@" is taken for credentials and never quoted.
func parse(raw string) (target, error) {
	t := target{name: raw}
	switch raw {
	case "memory:":
		t.kind = KindMemory
		return t, nil
	case "redis:private", "memcache:private", "memcache+counter:private":
		t.kind, _, _ = strings.Cut(strings.TrimSuffix(raw, ":private"), "+")
		t.scheme, t.private = strings.TrimSuffix(raw, ":private"), true
		t.counterOnly = t.scheme == "memcache+counter"
		return t, nil
	}

	before, rest, ok := strings.Cut(raw, "://")
	sc, known := schemeOf(before)
	if !ok || !known {
		return t, fmt.Errorf("backend: store %q: want %s", withoutCredentials(raw), forms)
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		t.credentials, rest = rest[:i+1], rest[i+1:]
	}
	t.name, t.scheme, t.kind = before+"://"+rest, before, sc.kind
	t.tls, t.counterOnly = strings.HasPrefix(before, "rediss"), before == "memcache+counter"
	hosts, path, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(rest, "?#") {
		return t, t.wrong("parameters", rest[strings.IndexAny(rest, "?#"):], "none")
	}
	if err := t.readCredentials(sc.credential); err != nil {
		return t, err
	}
	if err := t.readHosts(hosts, sc); err != nil {
		return t, err
	}
	t.path = strings.TrimRight(path, "/")
	return t, sc.read(&t)
}

// withoutCredentials is for what could not be taken apart.
func withoutCredentials(raw string) string {
	i := strings.LastIndexByte(raw, '@')
	if i < 0 {
		return raw
	}
	return "…" + raw[i:]
}

func (t *target) wrong(part, value, want string) error {
	return fmt.Errorf("backend: store %q: %s %q: want %s", t.name, part, value, want)
}

func (t *target) readCredentials(allowed bool) error {
	if t.credentials == "" {
		return nil
	}
	if !allowed {
		return fmt.Errorf("backend: store %q: user and password: want none, memcached is asked without", t.name)
	}
	user, password, ok := strings.Cut(strings.TrimSuffix(t.credentials, "@"), ":")
	if !ok {
		return fmt.Errorf("backend: store %q: user: want user:password@ or :password@", t.name)
	}
	var userErr, passwordErr error
	t.user, userErr = url.PathUnescape(user)
	t.password, passwordErr = url.PathUnescape(password)
	if userErr != nil || passwordErr != nil {
		return fmt.Errorf(`backend: store %q: user or password: want "%%" percent-encoded, as %%25`, t.name)
	}
	return nil
}

func (t *target) readHosts(hosts string, sc scheme) error {
	list := strings.Split(hosts, ",")
	if len(list) > 1 && !sc.several {
		return t.wrong("host", hosts, "one, or redis+cluster:// or redis+sentinel:// for several")
	}
	for _, given := range list {
		host, port := given, sc.port
		if h, p, err := net.SplitHostPort(given); err == nil {
			host, port = h, p
		} else if bare := strings.Trim(given, "[]"); given == "["+bare+"]" {
			host = bare
		} else if strings.Contains(given, ":") {
			return t.wrong("host", given, "host or host:port, an IPv6 address in brackets")
		}
		if host == "" || strings.ContainsAny(host, " []") {
			return t.wrong("host", given, "a name or an address, with or without :port")
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return t.wrong("port", port, "1 to 65535")
		}
		addr := net.JoinHostPort(host, port)
		if slices.Contains(t.addrs, addr) {
			return t.wrong("host", given, "each host once")
		}
		t.addrs = append(t.addrs, addr)
	}
	return nil
}

func (t *target) readDatabase() error { return t.setDatabase(t.path) }

func (t *target) setDatabase(s string) error {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return t.wrong("database", s, "a whole number, as in /0")
	}
	t.database = int(n)
	return nil
}

func (t *target) readCluster() error {
	t.cluster = true
	if t.path != "" && t.path != "0" {
		return t.wrong("database", t.path, "none: a cluster has only database 0")
	}
	return nil
}

func (t *target) readSentinel() error {
	name, database, _ := strings.Cut(t.path, "/")
	master, err := url.PathUnescape(name)
	if err != nil || master == "" {
		return t.wrong("name", name, "the one under which Sentinel knows the primary, as in /mymaster/0")
	}
	t.master = master
	return t.setDatabase(database)
}

func (t *target) readNoPath() error {
	if t.path != "" {
		return t.wrong("path", t.path, "none")
	}
	return nil
}

// at returns the URL with another address.
func (t *target) at(addr string) string {
	u := t.scheme + "://" + t.credentials + addr
	if t.path != "" {
		u += "/" + t.path
	}
	return u
}
