package weir_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/weirlimits/weir"

// imports returns what each package of the module imports, itself and, with deps,
// through others. Tests' imports do not count.
func imports(t *testing.T) map[string]*goPackage {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps,Standard", module+"/...").Output()
	require.NoError(t, err)
	packages := map[string]*goPackage{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		packages[strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")] = &p
	}
	return packages
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// ours returns which packages of the module p depends on, and theirs which modules'
// packages outside it and outside the standard library.
func (p *goPackage) ours() (all []string) {
	for _, d := range p.Deps {
		if rest, ok := strings.CutPrefix(d, module); ok {
			all = append(all, strings.TrimPrefix(rest, "/"))
		}
	}
	return all
}

func (p *goPackage) theirs() (all []string) {
	for _, d := range p.Deps {
		if first, _, _ := strings.Cut(d, "/"); strings.Contains(first, ".") && !strings.HasPrefix(d, module) &&
			!strings.HasPrefix(d, "vendor/") {
			all = append(all, d)
		}
	}
	return all
}

// Imports run one way: store <- weir <- algorithms <- bench <- cmd/weir, and weir <-
// httplimit. Stores import store and their client, and siblings never each other.
func TestImportsRunOneWay(t *testing.T) {
	packages := imports(t)
	may := map[string][]string{ // what of ours each may depend on
		"store":                       {},
		"store/memory":                {"store"},
		"store/redis":                 {"store"},
		"store/memcache":              {"store"},
		"store/memcache/memcachetest": {},
		"internal/combine":            {"store"},
		"":                            {"store", "internal/combine"},
		"algorithms":                  {"store", "", "internal/combine"},
		"bench/oracle":                {},
		"bench/trace":                 {},
		"bench/racy":                  {"store", "", "internal/combine"},
		"conformance":                 {"store", "", "algorithms", "internal/combine", "bench/oracle"},
		"httplimit":                   {"store", "", "internal/combine"},
		"choose": {
			"store", "store/memory", "", "algorithms", "internal/combine", "internal/digits", "internal/footprint", "internal/layers",
		},
	}
	for name, allowed := range may {
		require.Contains(t, packages, name)
		require.Subset(t, allowed, packages[name].ours(), "what %q depends on", name)
	}
	for name, p := range packages {
		for _, d := range p.ours() {
			require.False(t, strings.HasPrefix(d, "cmd/"), "%s imports %s", name, d)
			if strings.HasPrefix(d, "bench") && !(name == "conformance" && d == "bench/oracle") {
				require.True(t, strings.HasPrefix(name, "bench") || strings.HasPrefix(name, "cmd/") ||
					strings.HasPrefix(name, "internal/"), "%s imports %s", name, d)
			}
		}
	}
}

// The limiter itself knows nothing of HTTP.
func TestTheRootDoesNotKnowHTTP(t *testing.T) {
	require.NotContains(t, imports(t)[""].Deps, "net/http")
}

// What somebody imports to ship a limiter brings its client and no more.
func TestDependenciesStayFew(t *testing.T) {
	packages := imports(t)
	for name, clients := range map[string][]string{
		"":               nil,
		"store":          nil,
		"algorithms":     nil,
		"conformance":    {"github.com/anishathalye/porcupine"},
		"store/memory":   nil,
		"store/memcache": {"github.com/bradfitz/gomemcache/"},
		"store/redis": {
			"github.com/redis/go-redis/", // and what that needs
			"github.com/cespare/xxhash/", "go.uber.org/atomic", "golang.org/x/sys/",
		},
		"store/memcache/memcachetest": nil,
		"httplimit":                   {"github.com/realclientip/realclientip-go"},
		"choose":                      nil,
	} {
		for _, d := range packages[name].theirs() {
			ok := false
			for _, c := range clients {
				ok = ok || strings.HasPrefix(d, c)
			}
			require.True(t, ok, "%s depends on %s", name, d)
		}
	}
}
