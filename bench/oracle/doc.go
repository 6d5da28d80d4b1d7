// Package oracle is the exact judge of rate-limit decisions.
//
// It has two parts. A [Judge] is shown what a limiter decided and holds every decision against that
// limiter's own history: how much got through in the worst window, what was admitted without a free
// place, what was denied although places were free, and how far the told waits were off. A [Model] is
// an algorithm in its plainest exact form, to hold a real implementation against, verdict by verdict.
//
// The package shares no code with the algorithms that it judges, so that a mistake cannot hide in both.
// All arithmetic is exact: integers, and rational numbers where a division occurs.
//
// Times are whole microseconds since any fixed instant, the Unix epoch for aligned windows; they and
// the windows must stay below 2^61 in size, and the costs of one key must add up to less than 2^62. A window of length W that ends at t is the half-open
// (t-W, t]: an event exactly one window old has left it. A cost of n counts as n requests at one instant.
// Limits, windows and bursts are at least one; what is lower is read as one.
package oracle
