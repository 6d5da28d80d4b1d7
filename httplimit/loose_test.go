//go:build !live

package httplimit_test

import "time"

// What takes milliseconds on a machine at rest may take seconds on a busy one: here it only
// must not take as long as the store's trouble. Under the tag live the true bounds hold.
const (
	decisionSlack = 4 * time.Second
	recoveryBound = 10 * time.Second
	guardPause    = 100 * time.Millisecond // it only makes these tests longer
)
