STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# What docs/results holds: every algorithm, and packed-log from exact to a few bytes; and the caged fixed window.
COMPARE := go run ./cmd/weir compare --growth --limit 100/1m \
	--algorithm fixed-window --algorithm fixed-window-first-hit --algorithm sliding-counter --algorithm bucketed-window \
	--algorithm gcra --algorithm sliding-log --algorithm ring-log --algorithm packed-log \
	--algorithm packed-log,tick=1us --algorithm packed-log,error=1% --algorithm packed-log,error=12.5%
CAGE := go run ./cmd/weir compare --limit 100/1m+5/1s --algorithm fixed-window

.DEFAULT_GOAL := help
.PHONY: help deps lint test soak fuzz live bench peers results docs verify-results build clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install redis-server, memcached and chromium if they are missing
	@scripts/deps

lint: ## vet, format, staticcheck and tidy checks in every module; known vulnerabilities in this one
	scripts/silent gofmt -l .
	scripts/silent go run $(GOFUMPT) -l .
	scripts/modules go mod tidy -diff
	scripts/modules go vet ./...
	scripts/modules go run $(STATICCHECK) ./...
	scripts/vulnerabilities go run $(GOVULNCHECK) ./...

test: deps lint ## all checks and all tests, against real servers, with the race detector
	WEIR_REQUIRE_SERVERS=1 scripts/modules go test -race -count=1 -timeout 15m ./...

soak: ## a hundred million adversarial decisions in memory, a million on each server, WEIR_SOAK_DECISIONS scales it; ten million keys used once
	WEIR_SOAK=1 WEIR_REQUIRE_SERVERS=1 go test -count=1 -timeout 2h -v -run '^TestSoak(Flood)?$$' ./bench/soak

fuzz: ## every fuzz target for ten minutes; WEIR_FUZZ_TIME says how long instead, WEIR_FUZZ which
	scripts/fuzz

live: ## weir hammer --url against services, nginx among them, and deadlines while stores fail; for a machine that does nothing else
	go test -count=1 -tags live ./bench/hammer/ask
	WEIR_REQUIRE_SERVERS=1 go test -count=1 -tags live -v -run 'TestRL095' ./httplimit

bench: ## all benchmarks
	scripts/modules go test -run '^$$' -bench . -benchmem ./...

peers: ## other Go limiters and ours side by side, to docs/results/peers.json
	cd bench/peers && go run ./cmd/peers -o ../../docs/results/peers.json

results: deps peers ## measure what the docs show, to docs/results: some twenty minutes on an idle machine
	$(COMPARE) -o docs/results/compare.json >/dev/null
	$(CAGE) -o docs/results/cage.json >/dev/null

docs: ## make the documents and pictures, and what weir choose estimates from, out of docs/results and the example's source
	go generate ./choose
	cd bench/docs && go run .
	cd examples/boltstore && go generate .

verify-results: deps ## measure anew and compare: bytes, counts and trips within 2 %, times as ratios
	mkdir -p bin/results
	$(COMPARE) -o bin/results/compare.json >/dev/null
	$(CAGE) -o bin/results/cage.json >/dev/null
	cd bench/docs && go run . verify ../../docs/results/compare.json ../../bin/results/compare.json
	cd bench/docs && go run . verify ../../docs/results/cage.json ../../bin/results/cage.json

build: ## the program, to bin/weir
	go build -trimpath -o bin/weir ./cmd/weir

clean: ## remove what build leaves behind
	rm -rf bin
