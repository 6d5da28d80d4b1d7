package weir_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// A known vulnerability fails make lint, and so does a check that broke; a database that is out of reach does
// not, and is told.
func TestVulnerabilitiesFailAndAnUnreachableDatabaseDoesNot(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		exit int
		pass bool
		tell string
	}{
		"none":        {says: "No vulnerabilities found.", pass: true},
		"found":       {says: "Vulnerability #1: GO-0000-0001", exit: 3, tell: "GO-0000-0001"},
		"unreachable": {says: `govulncheck: fetching vulnerabilities: Get "https://example.org": no such host`, exit: 1, pass: true, tell: "not checked: database unreachable: govulncheck: fetching"},
		"broken":      {says: "govulncheck: loading packages: there are errors", exit: 1, tell: "loading packages"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command("scripts/vulnerabilities", "sh", "-c", `printf '%s\n' "$1" >&2; exit "$2"`, "sh",
				c.says, string(rune('0'+c.exit))).CombinedOutput()
			require.Equal(t, c.pass, err == nil, "%s", out)
			require.Contains(t, string(out), c.tell)
		})
	}
}
