package conformance

import (
	"fmt"
	"strconv"
)

// quoted returns a key as it is shown: with escapes, and short.
func quoted(key string) string {
	const most = 60
	if len(key) > most {
		return fmt.Sprintf("%s… (%d bytes)", strconv.QuoteToASCII(key[:most]), len(key))
	}
	return strconv.QuoteToASCII(key)
}
