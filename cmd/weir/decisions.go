package main

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/bench"
)

// appendDecision appends one decision as a line of JSON. There may be millions, so no reflection.
func appendDecision(b []byte, d bench.Decided) []byte {
	b = appendText(append(b, `{"algorithm":`...), d.Algorithm)
	b = appendText(append(b, `,"store":`...), d.Store)
	b = appendSeconds(append(b, `,"time":`...), d.Event.Time)
	b = appendText(append(b, `,"key":`...), d.Event.Key)
	b = strconv.AppendInt(append(b, `,"cost":`...), d.Event.Cost, 10)
	b = strconv.AppendBool(append(b, `,"allowed":`...), d.Decision.Allowed)
	b = strconv.AppendInt(append(b, `,"limit":`...), d.Decision.Limit, 10)
	b = strconv.AppendInt(append(b, `,"remaining":`...), d.Decision.Remaining, 10)
	b = append(b, `,"retry_after":`...)
	if d.Decision.RetryAfter == weir.Never {
		b = append(b, "-1"...)
	} else {
		b = appendSeconds(b, int64(d.Decision.RetryAfter/time.Microsecond))
	}
	b = appendSeconds(append(b, `,"reset_after":`...), int64(d.Decision.ResetAfter/time.Microsecond))
	return append(b, "}\n"...)
}

func appendText(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string never fails
	return append(b, text...)
}

// appendSeconds writes whole microseconds as seconds, exactly.
func appendSeconds(b []byte, us int64) []byte {
	b = strconv.AppendInt(b, us/1e6, 10)
	rest := us % 1e6
	if rest == 0 {
		return b
	}
	digits := strconv.AppendInt(nil, 1e6+rest, 10)[1:]
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return append(append(b, '.'), digits...)
}
