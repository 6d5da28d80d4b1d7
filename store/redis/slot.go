package redis

import "strings"

const slots = 16384

// place is where a key lives, as far as that matters: keys of one place can be in one script.
type place struct {
	slot int    // in a cluster
	key  string // where every key has to be on its own
}

func oneServer(string) place { return place{} }

func bySlot(key string) place { return place{slot: slot(key)} }

// byKey is for clients that spread keys in a manner of their own.
func byKey(key string) place { return place{key: key} }

// slot returns the cluster slot of a key: the CRC-16/XMODEM (polynomial 0x1021, from
// zero) of what stands between its first "{" and the next "}", or of the whole key where
// there is no such pair or nothing in it, modulo 16384. See the Redis Cluster
// specification, "Key distribution model" and "Hash tags".
func slot(key string) int {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if size := strings.IndexByte(key[open+1:], '}'); size > 0 {
			key = key[open+1 : open+1+size]
		}
	}
	var crc uint16
	for i := range len(key) {
		crc = crc<<8 ^ crcOfByte[byte(crc>>8)^key[i]]
	}
	return int(crc) % slots
}

var crcOfByte = func() (table [256]uint16) {
	for b := range table {
		crc := uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[b] = crc
	}
	return table
}()
