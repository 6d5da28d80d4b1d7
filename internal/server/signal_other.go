//go:build !unix

package server

import (
	"errors"
	"fmt"
)

func (p *process) pause() error { return p.noFreeze() }

func (p *process) resume() error { return p.noFreeze() }

func (p *process) noFreeze() error {
	return fmt.Errorf("server: %s: freezing a process: %w", p.name, errors.ErrUnsupported)
}
