//go:build !linux

package bench

import "time"

func punctual() {}

func sleepUntil(at time.Time) { time.Sleep(time.Until(at)) }
