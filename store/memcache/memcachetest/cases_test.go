package memcachetest

import (
	"fmt"
	"strings"
)

// cases are dialogues that visit every command and every edge of it. Each starts on an empty server.
func cases() map[string]dialogue {
	key250, key251 := strings.Repeat("k", 250), strings.Repeat("k", 251)
	manyKeys := ""
	for i := range 60 {
		manyKeys += fmt.Sprintf(" key%d", i%7)
	}
	return map[string]dialogue{
		"get": {
			"get a\r\n", "gets a\r\n", "set a 5 0 3\r\nabc\r\n", "set b 0 0 0\r\n\r\n", "get a\r\n", "get b\r\n", "gets a b a c\r\n",
			"get  a   b \r\n", " get a\r\n", "bget a\r\n", "get\r\n", "gets\r\n", "get \r\n", "bget\r\n", "getx a\r\n", "GET a\r\n",
		},
		"many keys": {
			"set key1 0 0 1\r\n1\r\nset key5 0 0 1\r\n5\r\n", "get" + manyKeys + "\r\n", "gets" + manyKeys + "\r\n", "gets" + strings.Repeat(manyKeys, 10) + "\r\n",
		},
		"long keys": {
			"set " + key250 + " 0 0 1\r\nx\r\n", "get " + key250 + "\r\n", "get " + key251 + "\r\n", "get " + key250 + " " + key251 + "\r\n",
			"gets a " + key251 + " b\r\n", "get" + manyKeys + " " + key251 + "\r\n", "set " + key251 + " 0 0 1\r\n", "add " + key251 + " 0 0 1 noreply\r\n",
			"incr " + key251 + " 1\r\n", "decr " + key251 + " x\r\n", "touch " + key251 + " 0\r\n", "touch " + key250 + " 0\r\n",
			"delete " + key251 + "\r\n", "delete " + key250 + "\r\n", "gat 0 " + key251 + "\r\n", "cas " + key251 + " 0 0 1 1\r\n",
		},
		"gat before a long key touches": {"set a 0 0 1\r\nx\r\n", "gat -1 a " + key251 + "\r\n", "get a\r\n"},
		"control characters in keys": {
			"set a\tb 0 0 1\r\nx\r\n", "get a\tb\r\n", "set \x01\x7f\xff 0 0 1\r\ny\r\n", "gets \x01\x7f\xff\r\n", "set a\rb 0 0 1\r\nz\r\n", "get a\rb\r\n",
			"get a\x00b\r\n", "set a\x00b 0 0 1\r\n", "set z 0 0 1\x00 junk\r\nq\r\n", "get z\x00 y\r\n", "\x00get z\r\n", "get\x00 z\r\n", "delete z\x00\r\n",
		},
		"line ends": {
			"set a 0 0 1\nx\r\n", "get a\n", "get a\r\r\n", "\r\n", "\n", "\r\r\n", " \r\n", "a\r\n", "a b\r\n", "get a \r\n", "get a\r\nget a\nget a\r\n",
		},
		"storage on nothing": {
			"add a 1 0 1\r\n1\r\n", "get a\r\n", "replace b 1 0 1\r\n2\r\n", "append b 1 0 1\r\n3\r\n", "prepend b 1 0 1\r\n4\r\n", "cas b 1 0 1 5\r\n6\r\n", "get b\r\n",
		},
		"storage on something": {
			"set a 7 0 1\r\n1\r\n", "gets a\r\n", "add a 1 0 1\r\n2\r\n", "gets a\r\n", "replace a 2 0 2\r\n34\r\n", "gets a\r\n", "append a 3 0 2\r\n56\r\n",
			"gets a\r\n", "prepend a 4 0 3\r\n789\r\n", "gets a\r\n", "append a 3 -1 0\r\n\r\n", "gets a\r\n", "set a 0 0 0\r\n\r\n", "gets a\r\n",
		},
		"flags": {
			"set a 4294967295 0 1\r\nx\r\n", "get a\r\n", "set a 4294967296 0 1\r\nx\r\n", "get a\r\n", "set a 18446744073709551615 0 1\r\nx\r\n", "get a\r\n",
			"set a 18446744073709551616 0 1\r\n", "set a -1 0 1\r\n", "set a -18446744073709551615 0 1\r\ny\r\n", "get a\r\n", "set a +7 0 1\r\nz\r\n", "get a\r\n",
			"set a x 0 1\r\n", "set a 1x 0 1\r\n", "set a 1\tx 0 1\r\nw\r\n", "get a\r\n", "set a \t9 0 1\r\nv\r\n", "get a\r\n", "set a 0x10 0 1\r\n",
		},
		"exptime": {
			"set a 0 -1 1\r\nx\r\n", "get a\r\n", "set a 0 -2147483648 1\r\nx\r\n", "get a\r\n", "set a 0 2592000 1\r\nx\r\n", "get a\r\n", "set a 0 2592001 1\r\nx\r\n", "get a\r\n",
			"set a 0 2147483647 1\r\nx\r\n", "get a\r\n", "set a 0 2147483648 1\r\nx\r\n", "get a\r\n", "set a 0 4294967296 1\r\nx\r\n", "get a\r\n",
			"set a 0 9223372036854775808 1\r\n", "set a 0 -9223372036854775808 1\r\ny\r\n", "get a\r\n", "set a 0 x 1\r\n", "set a 0 1.5 1\r\n",
			"set a 0 0 1\r\nx\r\n", "set a 0 -1 1\r\nx\r\n", "add a 0 0 1\r\nz\r\n", "get a\r\n", "set a 0 1000000000 1\r\nx\r\n", "append a 0 0 1\r\ny\r\n",
			"replace a 0 0 1\r\ny\r\n", "incr a 1\r\n", "delete a\r\n", "touch a 0\r\n", "cas a 0 0 1 1\r\ny\r\n",
		},
		"length": {
			"set a 0 0 -1\r\n", "set a 0 0 x\r\n", "set a 0 0\r\n", "set a 0\r\n", "set a\r\n", "set\r\n", "set a 0 0 1 x\r\ny\r\n", "get a\r\n", "set a 0 0 1 2 3\r\n",
			"set a 0 0 2147483647\r\n", "set a 0 0 4294967297\r\nz\r\n", "get a\r\n", "set a 0 0 -4294967295\r\nw\r\n", "get a\r\n",
			"cas a 0 0 1\r\n", "cas a 0 0 x 1\r\n", "cas a 0 0 -1 1\r\n", "add a 0 0\r\n", "replace a\r\n", "append a 0 0\r\n", "prepend\r\n",
			"set a 0 0 2147483646\r\n", "set a 0 0 2147483645\r\n",
		},
		"bad data chunk": {
			"set a 0 0 1\r\nabc\r\n", "get a\r\n", "set a 0 0 5\r\nabc\r\nget a\r\n", "set a 0 0 3\r\nabcd\r\n", "set a 0 0 3\r\nabc\n\n", "get a\r\n",
			"set a 0 0 1\r\nx\r\n", "append a 0 0 1\r\nyyy\r\n", "get a\r\n", "set a 0 0 0\r\nx\r\n", "get a\r\n", "set a 0 0 2 noreply\r\nabcdef\r\n", "get a\r\n",
		},
		"two gigabytes to come": {"set a 0 0 1\r\nx\r\n", "set a 0 0 2147483645\r\n", "get a\r\n"},
		"too large": {
			"set a 0 0 1\r\nx\r\n", fmt.Sprintf("add a 0 0 %d\r\n", 1<<20), strings.Repeat("v", 1<<20) + "\r\nget a\r\n",
			fmt.Sprintf("set a 0 0 %d\r\n%s\r\n", 1<<20, strings.Repeat("v", 1<<20)), "get a\r\n", fmt.Sprintf("set a 0 0 %d noreply\r\n%s\r\nget a\r\n", 1<<20, strings.Repeat("v", 1<<20)),
			fmt.Sprintf("set b 0 0 %d\r\n%s\r\n", 1<<20-60, strings.Repeat("v", 1<<20-60)), fmt.Sprintf("set b 0 0 %d\r\n%s\r\n", 1<<20-59, strings.Repeat("v", 1<<20-59)),
			fmt.Sprintf("set b 1 0 %d\r\n%s\r\n", 1<<20-64, strings.Repeat("v", 1<<20-64)), fmt.Sprintf("set b 1 0 %d\r\n%s\r\n", 1<<20-63, strings.Repeat("v", 1<<20-63)),
			fmt.Sprintf("set b 0 0 %d\r\n%s\r\n", 1<<20-61, strings.Repeat("v", 1<<20-61)), "append b 0 0 1\r\nx\r\n", "append b 0 0 1\r\nx\r\n", "prepend b 0 0 1\r\nx\r\n", "incr b 1\r\n",
			fmt.Sprintf("set n 0 0 %d\r\n%s\r\n", 600<<10, "12 "+strings.Repeat("v", 600<<10-3)), "incr n 1\r\n",
			fmt.Sprintf("set n 0 0 %d\r\n%s\r\n", 500<<10, "12 "+strings.Repeat("v", 500<<10-3)), "incr n 1\r\n",
			fmt.Sprintf("cas b 0 0 %d 1\r\n%s\r\n", 1<<20, strings.Repeat("v", 1<<20)), fmt.Sprintf("replace b 0 0 %d\r\n%s\r\n", 1<<20, strings.Repeat("v", 1<<20)), "delete b\r\n",
		},
		"noreply": {
			"set a 0 0 1 noreply\r\n1\r\nget a\r\n", "add a 0 0 1 noreply\r\n2\r\nadd b 0 0 1 noreply\r\n3\r\nget a b\r\n", "replace a 0 0 1 noreply\r\n4\r\nget a\r\n",
			"append a 0 0 1 noreply\r\n5\r\nprepend a 0 0 1 noreply\r\n6\r\nget a\r\n", "cas a 0 0 1 1 noreply\r\n7\r\ngets a\r\n", "cas a 0 0 1 {cas1} noreply\r\n7\r\ngets a\r\n",
			"incr a 1 noreply\r\ndecr b 1 noreply\r\ntouch a 0 noreply\r\nget a b\r\n", "delete a noreply\r\nget a\r\n", "delete b 0 noreply\r\nget b\r\n",
			"flush_all noreply\r\nverbosity 0 noreply\r\nversion\r\n", "incr a x noreply\r\nincr nothing 1 noreply\r\ntouch a x noreply\r\nversion\r\n",
			"set a 0 0 noreply\r\nset a x 0 1 noreply\r\nset a 0 noreply\r\nverbosity noreply\r\nincr a noreply\r\ntouch a noreply\r\n", "delete a 1 noreply\r\ndelete a noreply 0\r\n",
			"flush_all x noreply\r\nflush_all noreply noreply\r\nversion\r\n", "version noreply\r\n", "get noreply\r\n", "bogus noreply\r\n", "set a 0 0 1 NOREPLY\r\nx\r\n",
			"flush_all 0 noreply\r\nget a\r\n", "set noreply 0 0 1 noreply\r\n8\r\nget noreply\r\n", "delete noreply\r\n",
		},
		"incr and decr": {
			"incr a 1\r\n", "decr a 1\r\n", "set a 5 0 2\r\n10\r\n", "gets a\r\n", "incr a 1\r\n", "gets a\r\n", "decr a 2\r\n", "gets a\r\n", "incr a 91\r\n", "gets a\r\n",
			"decr a 1000\r\n", "gets a\r\n", "incr a 0\r\n", "gets a\r\n", "incr a 18446744073709551615\r\n", "gets a\r\n", "incr a 1\r\n", "gets a\r\n", "decr a 1\r\n",
			"incr a 18446744073709551616\r\n", "incr a -1\r\n", "incr a x\r\n", "incr a\r\n", "incr\r\n", "incr a 1 x\r\n", "incr a 1 2 3\r\n", "incr a 1x\r\n", "incr a \t1\r\n",
			"incr a -18446744073709551615\r\n", "get a\r\n",
		},
		"incr on other values": {
			"set a 0 0 0\r\n\r\n", "incr a 1\r\n", "set a 0 0 1\r\nx\r\n", "incr a 1\r\n", "decr a 1\r\n", "set a 0 0 6\r\n12 abc\r\n", "incr a 1\r\n", "get a\r\n",
			"set a 0 0 2\r\n1x\r\n", "incr a 1\r\n", "set a 0 0 3\r\n  5\r\n", "incr a 1\r\n", "get a\r\n", "set a 0 0 2\r\n+5\r\n", "incr a 1\r\n", "get a\r\n",
			"set a 0 0 2\r\n-5\r\n", "incr a 1\r\n", "set a 0 0 3\r\n5\x00x\r\n", "incr a 1\r\n", "get a\r\n", "set a 0 0 20\r\n18446744073709551615\r\n", "incr a 1\r\n", "get a\r\n",
			"set a 0 0 20\r\n18446744073709551616\r\n", "incr a 1\r\n", "set a 0 0 4\r\n0009\r\n", "incr a 1\r\n", "get a\r\n", "set a 0 0 4\r\n5\r\n6\r\n", "incr a 1\r\n", "get a\r\n",
			"set a 0 0 1\r\n-\r\n", "incr a 1\r\n", "set a 0 0 21\r\n-18446744073709551615\r\n", "incr a 1\r\n", "get a\r\n", "set a 0 0 22\r\n9223372036854775808 -x\r\n", "incr a 1\r\n",
		},
		"cas": {
			"cas a 0 0 1 1\r\nx\r\n", "set a 0 0 1\r\n1\r\n", "gets a\r\n", "cas a 3 0 1 {cas1}\r\n2\r\n", "gets a\r\n", "cas a 0 0 1 {cas1}\r\n3\r\n", "gets a\r\n",
			"cas a 0 0 1 0\r\n4\r\n", "cas a 0 0 1 x\r\n", "cas a 0 0 1 -1\r\n", "cas a 0 0 1 18446744073709551615\r\n5\r\n", "cas a 0 0 1 18446744073709551616\r\n", "gets a\r\n",
			"touch a 100\r\n", "gets a\r\n", "cas a 0 -1 1 {cas2}\r\n6\r\n", "gets a\r\n", "cas a 0 0 1 {cas2}\r\n7\r\n", "add a 0 0 1\r\n8\r\n", "cas a 0 0 1 {cas2}\r\n9\r\n", "gets a\r\n",
			"cas a 0 0 2 {cas3}\r\nxyz\r\n", "gets a\r\n", "delete a\r\n", "cas a 0 0 1 {cas3}\r\n1\r\n", "cas\r\n", "cas a 0 0 1 {cas3} x\r\n1\r\n", "cas a 0 0 1 1 2 3\r\n",
		},
		"touch and gat": {
			"touch a 0\r\n", "gat 0 a\r\n", "set a 9 0 1\r\nx\r\n", "gets a\r\n", "touch a 100\r\n", "gats 0 a\r\n", "gat 100 a b a\r\n", "gat x a\r\n", "gat a\r\n", "gat 5\r\n", "gat\r\n", "gats\r\n",
			"touch a\r\n", "touch a x\r\n", "touch a 1x\r\n", "touch a 1 x\r\n", "touch a 1 2 3\r\n", "gat -1 a\r\n", "get a\r\n", "set a 0 0 1\r\nx\r\n", "touch a -1\r\n", "gat 0 a\r\n",
			"set a 0 0 1\r\nx\r\n", "touch a 2592001\r\n", "touch a 0\r\n",
		},
		"delete": {
			"delete a\r\n", "set a 0 0 1\r\nx\r\n", "delete a\r\n", "get a\r\n", "set a 0 0 1\r\nx\r\n", "delete a 0\r\n", "delete a 1\r\n", "delete a 0 x\r\n", "delete a x 0\r\n",
			"delete a 0 0 0\r\n", "delete\r\n", "delete a 00\r\n",
		},
		"flush_all": {
			"set a 0 0 1\r\nx\r\n", "gets a\r\n", "flush_all\r\n", "get a\r\n", "cas a 0 0 1 {cas1}\r\nx\r\n", "set a 0 0 1\r\ny\r\n", "get a\r\n", "flush_all 0\r\n", "get a\r\n",
			"set a 0 0 1\r\nz\r\n", "flush_all -1\r\n", "add a 0 0 1\r\nw\r\n", "get a\r\n", "flush_all x\r\n", "flush_all 0 x\r\n", "flush_all 0 x y\r\n", "get a\r\n",
			"set a 0 0 1\r\nx\r\n", "flush_all 1000\r\n", "get a\r\n", "flush_all\r\n", "flush_all 1000\r\n", "get a\r\n", "flush_all 1000000000\r\n", "get a\r\n",
			"flush_all\r\n", "incr a 1\r\n", "touch a 1\r\n", "delete a\r\n",
		},
		"a delayed flush revives": {"set a 0 0 1\r\nx\r\n", "flush_all\r\n", "flush_all 100\r\n", "get a\r\n"},
		"statistics": {
			"stats\r\n", "set a 0 0 1\r\n1\r\nset a 1 0 1\r\n1\r\nadd a 0 0 1\r\n1\r\nset b 0 0 3\r\nxxxxxx\r\n", "get a b a\r\n", "gat 0 a b\r\n", "touch a 0\r\ntouch b 0\r\n",
			"incr a 1\r\ndecr a 1\r\nincr b 1\r\ndecr b 1\r\nincr a 100\r\n", "gets a\r\n", "cas a 0 0 1 {cas1}\r\n1\r\ncas a 0 0 1 {cas1}\r\n1\r\ncas b 0 0 1 1\r\n1\r\n",
			"set n 0 0 1\r\nx\r\nincr n 1\r\n", "delete a\r\ndelete b\r\n", "set e 0 -1 1\r\nx\r\n", "stats\r\n", "get e\r\n", "set f 9 0 1\r\nx\r\nappend f 0 0 1\r\ny\r\n", "stats\r\n", "flush_all\r\n", "get f\r\n",
			"flush_all x\r\n", fmt.Sprintf("set f 0 0 %d\r\n%s\r\n", 1<<20, strings.Repeat("v", 1<<20)), "get " + key250 + " " + key251 + "\r\n", "stats\r\n",
			"stats reset\r\n", "stats\r\n", "stats settings\r\n", "stats bogus\r\n", "stats reset x\r\n", "statsx\r\n",
		},
		"other commands": {
			"version\r\n", "version x\r\n", "verbosity 0\r\n", "verbosity\r\n", "verbosity x\r\n", "verbosity 0 x\r\n", "verbosity 0 x y\r\n", "verbosity -1\r\n", "verbosity 0\r\n",
			"bogus\r\n", "x\r\n", "Version\r\n", "set", "\r\n", "addx a 0 0 1\r\n", "casx\r\n", "incrx\r\n", "touchx\r\n", "mm\r\n", "aa bb HTTP/1.0\r\n", "x HTTP/1.0\r\n", "mx HTTP/1.1\r\n",
		},
		"a reply lost to an endless line": {"version\r\n" + strings.Repeat("x", 3000)},
		"a reply lost to HTTP":            {"version\r\nGET / HTTP/1.1\r\n"},
		"quit":                            {"set a 0 0 1\r\nx\r\nget a\r\n", "quit\r\n", "get a\r\n"},
		"quit with words":                 {"quit now please\r\n", "version\r\n"},
		"HTTP":                            {"GET / HTTP/1.1\r\n", "Host: example.com\r\n"},
		"HTTP with two words":             {"POST HTTP/1.1\r\n", "version\r\n"},
		"an endless line":                 {strings.Repeat("x", 3000), "\r\n"},
		"an endless get line": {
			"get " + strings.Repeat("a ", 3000), strings.Repeat("b ", 20000), "c\r\n", strings.Repeat(" ", 50) + "gets " + strings.Repeat("a ", 1500), "b\r\n",
			strings.Repeat(" ", 101) + "gets " + strings.Repeat("a ", 1500), "b\r\n",
		},
		"values that look like answers": {
			"set a 0 0 5\r\nEND\r\n\r\n", "get a\r\n", "set a 0 0 14\r\nVALUE a 0 1 9\r\n\r\n", "gets a\r\n", "set a 0 0 4\r\n\r\n\r\n\r\n", "get a\r\n", "set a 0 0 3\r\n\x00\xff\x80\r\n", "get a\r\n",
		},
		"in pieces": {
			"se", "t a 0 ", "0 5\r", "\n", "ab", "", "cd", "e\r", "\nget", " a\r", "\n", "set a 0 0 0\r\n", "\r", "\n", "get a\r\nge", "t a\r\n",
			fmt.Sprintf("set big 0 0 %d\r\n", 100000), strings.Repeat("p", 70000), strings.Repeat("q", 30000), "\r\nget big\r\n", "get a\r\nset b 0 0 1\r\n", "x\r\n", "get a\r\nversion\r\nset a 0 0 100\r\nhalf",
		},
		"all at once": {
			"set a 0 0 1\r\n1\r\nincr a 1\r\nget a\r\nbogus\r\ndelete a\r\nget a\r\nset a 0 0 1\r\nxx\r\nversion\r\nset b 0 0 1\r\n1\r\nappend b 0 0 1\r\n2\r\nget b\r\n" +
				strings.Repeat("incr b 1\r\n", 100),
		},
	}
}
