package httplimit

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/realclientip/realclientip-go"

	"github.com/weirlimits/weir"
)

// AddressOptions are the options of [NewAddresses].
type AddressOptions struct {
	// TrustedProxies are the addresses and ranges of all proxies between clients and
	// this server: "10.0.0.0/8", "192.0.2.1", and "unix" for whoever connects by a
	// Unix socket. Only of a request that comes from one of them is the header read.
	TrustedProxies []string
	// Header is what those proxies write the client's address into. "X-Forwarded-For",
	// the default, and "Forwarded" are lists and are read from the right, up to the first
	// address that is not trusted. Any other holds one address, such as "X-Real-IP";
	// the proxies must replace what a client wrote into it.
	Header string
	// IPv6Prefix is how many bits of an IPv6 address tell clients apart, 32 to 128. The
	// default is 64: a subscriber has at least a network of that size.
	IPv6Prefix int
}

// Addresses tells from which address a request comes. The zero value believes no header.
type Addresses struct {
	trusted []netip.Prefix
	unix    bool
	header  realclientip.Strategy // nil: none is read
	bits    int                   // zero: 64
}

// direct is what rules without a key count by.
var direct = &Addresses{}

// NewAddresses returns what tells clients' addresses. A nil opts means that no proxy is
// trusted, and no header read: the address is the one that the connection comes from.
// It returns a [weir.FieldError] for options that are not valid.
func NewAddresses(opts *AddressOptions) (*Addresses, error) {
	if opts == nil {
		return direct, nil
	}
	a := &Addresses{bits: opts.IPv6Prefix}
	if a.bits != 0 && (a.bits < 32 || a.bits > 128) {
		return nil, &weir.FieldError{Field: "IPv6 prefix", Value: strconv.Itoa(a.bits), Want: "32 to 128 bits"}
	}
	var ranges []net.IPNet
	for _, s := range opts.TrustedProxies {
		if s == "unix" {
			a.unix = true
			continue
		}
		p, err := parseRange("trusted proxy", s)
		if err != nil {
			return nil, err
		}
		a.trusted = append(a.trusted, p)
		ranges = append(ranges, net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())})
	}
	if len(a.trusted) == 0 && !a.unix {
		if opts.Header != "" {
			return nil, &weir.FieldError{
				Field: "trusted proxies", Value: "none", Want: "the proxies that write " + opts.Header,
			}
		}
		return a, nil
	}
	var err error
	switch name := http.CanonicalHeaderKey(opts.Header); name {
	case "":
		a.header, err = realclientip.NewRightmostTrustedRangeStrategy("X-Forwarded-For", ranges)
	case "X-Forwarded-For", "Forwarded":
		a.header, err = realclientip.NewRightmostTrustedRangeStrategy(name, ranges)
	default:
		a.header, err = realclientip.NewSingleIPHeaderStrategy(name)
	}
	if err != nil {
		return nil, fmt.Errorf("weir: address header %q: %w", opts.Header, err)
	}
	return a, nil
}

// parseRange reads an address or a range. An IPv4 range that is written as IPv6 is
// taken as IPv4, as addresses are.
func parseRange(field, s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		addr, addrErr := netip.ParseAddr(s)
		if addrErr != nil || addr.Zone() != "" {
			return p, &weir.FieldError{Field: field, Value: strconv.Quote(s), Want: `an address or a range, such as "10.0.0.0/8"`}
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

// Of returns the address of a request's client, without port and zone, an IPv4 address always as
// IPv4. It is not valid where the connection has none, as by a Unix socket.
func (a *Addresses) Of(r *http.Request) netip.Addr {
	peer := parseAddr(r.RemoteAddr)
	if a.header == nil {
		return peer
	}
	if peer.IsValid() && !within(a.trusted, peer) || !peer.IsValid() && !a.unix {
		return peer
	}
	if client := parseAddr(a.header.ClientIP(r.Header, r.RemoteAddr)); client.IsValid() {
		return client
	}
	return peer // nobody but proxies, or nonsense
}

// parseAddr reads an address with or without a port.
func parseAddr(s string) netip.Addr {
	ap, err := netip.ParseAddrPort(s)
	addr := ap.Addr()
	if err != nil {
		addr, _ = netip.ParseAddr(s)
	}
	return addr.Unmap().WithZone("")
}

func within(ranges []netip.Prefix, addr netip.Addr) bool {
	for _, p := range ranges {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// Key is a [Key]: the client's address, or its network where it is IPv6. Clients without
// an address are one.
func (a *Addresses) Key(r *http.Request) (string, bool) {
	addr := a.Of(r)
	switch {
	case !addr.IsValid():
		return "-", true
	case addr.Is4():
		return addr.String(), true
	}
	bits := a.bits
	if bits == 0 {
		bits = 64
	}
	p, _ := addr.Prefix(bits) // its only error is too many bits
	return p.String(), true
}

// In matches requests whose client is in one of the ranges: for [Options]. It returns a
// [weir.FieldError] for what is no range.
func (a *Addresses) In(ranges ...string) (func(*http.Request) bool, error) {
	var all []netip.Prefix
	for _, s := range ranges {
		p, err := parseRange("range", s)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return func(r *http.Request) bool { return within(all, a.Of(r)) }, nil
}
