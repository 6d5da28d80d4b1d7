module github.com/weirlimits/weir/examples/chi

go 1.26.0

require (
	github.com/dunglas/httpsfv v1.1.2
	github.com/go-chi/chi/v5 v5.5.0
	github.com/stretchr/testify v1.12.1
	github.com/weirlimits/weir v0.0.0
)

require (
	github.com/realclientip/realclientip-go v1.0.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/weirlimits/weir => ../..
