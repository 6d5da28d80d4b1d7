package bench

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/weirlimits/weir/internal/backend"
)

// environment finds out where and with what a run is made.
func environment(ctx context.Context, c Config) Environment {
	e := Environment{
		Started: time.Now().UTC().Truncate(time.Second),
		Weir:    "(devel)",
		Go:      runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: cpuModel(), CPUs: runtime.NumCPU(),
		Seed: c.Seed, Flags: c.Flags,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			e.Weir = info.Main.Version
		}
		e.Commit = builtCommit(info)
	}
	if e.Commit == "" {
		e.Commit = checkoutCommit(ctx)
	}
	for _, b := range c.Backends {
		e.Servers = append(e.Servers, serverInfo(b))
	}
	return e
}

func serverInfo(b *backend.Backend) ServerInfo {
	return ServerInfo{
		Store: b.Name, Server: b.Server, Class: b.Store.Traits().Class().String(),
		StandIn: b.StandIn, Shared: b.Shared,
	}
}

// builtCommit is what the go command wrote into the program.
func builtCommit(info *debug.BuildInfo) (commit string) {
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}

// checkoutCommit asks git about the sources that this was compiled from, if they are here: what
// "go run" and "go test" build has no commit in it.
func checkoutCommit(ctx context.Context) string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", filepath.Dir(file)}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	if changes, err := git("status", "--porcelain"); err == nil && changes != "" {
		commit += "-dirty"
	}
	return commit
}

// cpuModel is empty where the system does not tell.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
