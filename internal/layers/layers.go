// Package layers puts one algorithm under several limits.
package layers

import "github.com/weirlimits/weir"

// Under makes a keep to further limits beside its first. With none it is a itself.
func Under(a weir.Algorithm, more []weir.Limit) weir.Algorithm {
	if len(more) == 0 {
		return a
	}
	all := make([]weir.Layer, len(more))
	for i, l := range more {
		all[i] = weir.Layer{Algorithm: a, Limit: l}
	}
	return weir.Layered(a, all...)
}

// Text writes limits as [weir.ParseLimits] reads them: "100/1m+5/1s".
func Text(limits []weir.Limit) string {
	text := ""
	for i, l := range limits {
		if i > 0 {
			text += "+"
		}
		text += l.String()
	}
	return text
}
