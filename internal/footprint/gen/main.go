// Command gen condenses docs/results to what package choose estimates from: choose/model.json.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run("../docs/results", "model.json"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run reads the results in dir and writes the model. It is run in the folder of package choose.
func run(dir, file string) error {
	m, err := condense(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("gen: %w", err)
	}
	return os.WriteFile(file, m, 0o644)
}
