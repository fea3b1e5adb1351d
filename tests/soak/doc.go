// Package soak runs the appliance under mixed traffic while services flap and an operator commits a change each second, and
// then looks for what must not be left: packets that nobody holds, flows that never end, answers from a wrong server, counters
// that do not add up. It runs for 60 s; SOAK=10m (make soak) runs longer. It measures nothing.
package soak
