//go:build unix && !linux

package server

// awaitFrozen does nothing: there is no portable way to look without taking the child's end from run.
func (p *process) awaitFrozen() error { return nil }
