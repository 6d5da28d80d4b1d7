package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/weirlimits/weir/bench"
)

// The results that the page is made from.
const (
	compareFile = "compare.json"
	cageFile    = "cage.json"
	peersFile   = "peers.json"
)

// measured is what the page is made from.
type measured struct {
	compare *bench.Results
	cage    *bench.Results
	peers   *peerResults
	faults  []fault
	sums    []string // SHA-256 of each file
}

func read(dir fs.FS) (*measured, error) {
	m := &measured{}
	for _, f := range []struct {
		name string
		into func(content []byte) error
	}{
		{compareFile, func(content []byte) (err error) {
			m.compare, err = bench.ReadResults(bytes.NewReader(content), compareFile)
			return err
		}},
		{cageFile, func(content []byte) (err error) {
			m.cage, err = bench.ReadResults(bytes.NewReader(content), cageFile)
			return err
		}},
		{peersFile, func(content []byte) (err error) {
			m.peers, err = readPeers(content)
			return err
		}},
	} {
		content, err := fs.ReadFile(dir, f.name)
		if err == nil {
			err = f.into(content)
		}
		if err != nil {
			return nil, fmt.Errorf("docs: %w: run make results", err)
		}
		sum := sha256.Sum256(content)
		m.sums = append(m.sums, fmt.Sprintf("%s %s", hex.EncodeToString(sum[:]), f.name))
	}
	for _, r := range []*bench.Results{m.compare, m.cage} {
		switch {
		case r.Incomplete != "":
			return nil, fmt.Errorf("docs: a run that ended early (%s): run make results", r.Incomplete)
		case len(r.Results) == 0:
			return nil, fmt.Errorf("docs: a run without results: run make results")
		}
	}
	return m, nil
}

// result finds an algorithm on the store whose name begins with store.
func result(r *bench.Results, store, algorithm string) (*bench.Result, error) {
	i := slices.IndexFunc(r.Results, func(one bench.Result) bool {
		return one.Algorithm == algorithm && strings.HasPrefix(one.Store, store)
	})
	if i < 0 {
		return nil, fmt.Errorf("no result of %s on %s", algorithm, store)
	}
	return &r.Results[i], nil
}

// onStore returns the results of one store, those that can't run there left out.
func (m *measured) onStore(store string) (all []bench.Result) {
	for _, r := range m.compare.Results {
		if strings.HasPrefix(r.Store, store) && r.Unsupported == nil {
			all = append(all, r)
		}
	}
	return all
}

func (m *measured) bytes(store, algorithm string, events int64) (float64, error) {
	r, err := result(m.compare, store, algorithm)
	if err != nil {
		return 0, err
	}
	return bytesAt(r, events)
}

func bytesAt(r *bench.Result, events int64) (float64, error) {
	for _, p := range r.Memory {
		if p.Events == events && p.NA == "" {
			return p.BytesPerKey, nil
		}
	}
	return 0, fmt.Errorf("no bytes of %s on %s after %d events", r.Algorithm, r.Store, events)
}

// jump returns between which two numbers of events a key grows most, as a ratio.
func (m *measured) jump(store, algorithm string) (at, to int64, ratio float64, err error) {
	r, err := result(m.compare, store, algorithm)
	if err != nil {
		return 0, 0, 0, err
	}
	for i := 1; i < len(r.Memory); i++ {
		a, b := r.Memory[i-1], r.Memory[i]
		if b.Events != a.Events+1 || a.NA != "" || b.NA != "" {
			continue
		}
		if grown := b.BytesPerKey / a.BytesPerKey; grown > ratio {
			at, to, ratio = a.Events, b.Events, grown
		}
	}
	if ratio == 0 {
		return 0, 0, 0, fmt.Errorf("no two neighbouring numbers of events of %s on %s", algorithm, store)
	}
	return at, to, ratio, nil
}

// worstDenied returns the largest share of requests that a scenario saw denied without need, on any store.
func (m *measured) worstDenied(algorithm string) (worst float64, err error) {
	found := false
	for _, r := range m.compare.Results {
		if r.Algorithm != algorithm {
			continue
		}
		for _, p := range r.Precision {
			if p.NA == "" && p.Events > 0 {
				worst, found = max(worst, float64(p.FalseDenied)/float64(p.Events)), true
			}
		}
	}
	if !found {
		return 0, fmt.Errorf("no precision of %s", algorithm)
	}
	return worst, nil
}

// leastAdmitted returns the least that a scenario saw admitted, as a part of what an exact log admits.
func (m *measured) leastAdmitted(algorithm string) (float64, error) {
	least := math.Inf(1)
	for _, r := range m.compare.Results {
		if r.Algorithm == algorithm {
			for _, p := range r.Precision {
				least = min(least, p.AdmittedRatio)
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0, fmt.Errorf("no precision of %s", algorithm)
	}
	return least, nil
}

// mostInWindow returns the most admitted in any window of any scenario on any store.
func mostInWindow(r *bench.Results, algorithm string) (most int64, err error) {
	for _, one := range r.Results {
		if one.Algorithm != algorithm {
			continue
		}
		for _, p := range one.Precision {
			most = max(most, p.MaxInWindow)
		}
	}
	if most == 0 {
		return 0, fmt.Errorf("no precision of %s", algorithm)
	}
	return most, nil
}
