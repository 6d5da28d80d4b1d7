//go:build live

package httplimit_test

import "time"

// How long beyond its deadline a decision may take, and how soon after the store's trouble
// all is well, on a machine that does nothing else.
const (
	decisionSlack = 50 * time.Millisecond
	recoveryBound = time.Second
	guardPause    = 0 // the default
)
