STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0

.DEFAULT_GOAL := help
.PHONY: help deps lint test soak bench peers build clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install redis-server, memcached, nginx and chromium if they are missing
	@scripts/deps

lint: ## vet, format, staticcheck and tidy checks, in every module
	scripts/silent gofmt -l .
	scripts/silent go run $(GOFUMPT) -l .
	scripts/modules go mod tidy -diff
	scripts/modules go vet ./...
	scripts/modules go run $(STATICCHECK) ./...

test: deps lint ## all checks and all tests, against real servers, with the race detector
	WEIR_REQUIRE_SERVERS=1 scripts/modules go test -race -timeout 15m ./...

soak: ## a hundred million adversarial decisions in memory, a million on each server; WEIR_SOAK_DECISIONS scales it
	WEIR_SOAK=1 WEIR_REQUIRE_SERVERS=1 go test -count=1 -timeout 2h -v -run '^TestSoak$$' ./bench/soak

bench: ## all benchmarks
	scripts/modules go test -run '^$$' -bench . -benchmem ./...

peers: ## other Go limiters and ours side by side, to docs/results/peers.json
	cd bench/peers && go run ./cmd/peers -o ../../docs/results/peers.json

build: ## the program, to bin/weir
	go build -trimpath -o bin/weir ./cmd/weir

clean: ## remove what build leaves behind
	rm -rf bin
