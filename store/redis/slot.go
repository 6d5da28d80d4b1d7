package redis

import (
	"strconv"
	"strings"
)

const slots = 16384

// slotName names the cluster slot of a key.
func slotName(key string) string { return strconv.Itoa(slot(key)) }

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
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % slots
}
