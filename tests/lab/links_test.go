package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"sluice/dataplane/packet"
	"sluice/tests/lab/topology"
)

// TestL2Conn: with -l2Conn senders of the same addresses and ports have a connection each with real servers, told apart by their MAC
// addresses, to which the answers go; without it they share one, whose answers go by the route.
func TestL2Conn(t *testing.T) {
	mustSettle(t)
	w := dial(t, "client", "c0")
	senders := [][6]byte{{2, 0xaa, 0, 0, 0, 1}, {2, 0xaa, 0, 0, 0, 2}, {2, 0xaa, 0, 0, 0, 3}}
	adc := macOf(t, "adc", "da")
	ask := func(sport uint16, from [6]byte, text string) packet.Ether {
		f := toVIP(t, w, sport, 0)
		f.Src, f.Proto, f.DstIP, f.DstPort, f.Payload = from, packet.ProtoUDP, address(topology.UDPVIP), 7, []byte(text)
		w.send(f.Bytes())
		return w.hear(30*time.Second, func(e packet.Ether) bool {
			return e.Src() == adc && bytes.Contains(e, []byte(text))
		})
	}
	shell(t, "set lb vserver echo -l2Conn ON")
	for round := range 3 {
		for i, m := range senders {
			answer := ask(5100, m, fmt.Sprintf("round %d of %d", round, i))
			if answer == nil {
				t.Fatalf("no answer to sender %d in round %d", i, round)
			}
			if answer.Dst() != m {
				t.Errorf("the answer to %x goes to %x", m, answer.Dst())
			}
		}
	}
	shell(t, "set lb vserver echo -l2Conn OFF")
	for i, m := range senders {
		if answer := ask(5101, m, fmt.Sprintf("without, %d", i)); answer == nil || answer.Dst() != w.MAC {
			t.Errorf("the answer to %x does not go to the client by its route: %x", m, answer)
		}
	}
}
