// Package port is the dataplane's edge: a worker's queue over all ports, with one call a burst that sends, frees and
// receives. There are DPDK ports (a NIC and its twin tap, or rings for tests and benches) and in-memory ports with the
// same buffer layout for tests of the worker.
//
// It moves packets only. It neither reads a header nor decides where a packet goes.
package port

// Queue is a worker's whole set of ports. Lane 2*p is port p's NIC, lane 2*p+1 its twin, the kernel's side of the same
// port. One worker uses a queue; Wake alone may be called from anywhere.
type Queue interface {
	// Turn sends every lane's x.Tx, frees x.Free, then polls the lanes round robin from x.Next until one has packets,
	// each lane at most once, and fills x.Rx. Packets that a lane does not take are freed and counted in x.TxFull.
	// It never waits.
	Turn(x *Exchange)
	// Wait blocks until a port has packets, Wake is called or timeoutMs milliseconds have passed.
	Wait(timeoutMs int)
	// Wake ends a Wait, the running one or else the next.
	Wake()
	// Lanes returns the number of lanes, twice the number of ports where ports have twins.
	Lanes() int
}

// NICLane returns the lane of a port's NIC.
func NICLane(port int) int { return 2 * port }

// TwinLane returns the lane of a port's twin.
func TwinLane(port int) int { return 2*port + 1 }
