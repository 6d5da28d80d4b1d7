module github.com/weirlimits/weir/examples/boltstore

go 1.26.0

replace github.com/weirlimits/weir => ../..

require (
	github.com/stretchr/testify v1.12.1
	github.com/weirlimits/weir v0.0.0
	go.etcd.io/bbolt v1.5.0
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
