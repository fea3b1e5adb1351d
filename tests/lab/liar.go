package main

import (
	"net"
	"strings"
)

// lie is a server that talks without end and without sense, by TCP and UDP, at every address given.
func lie(addresses []string) error {
	failed := make(chan error)
	for _, a := range addresses {
		u, err := net.ListenPacket("udp4", a)
		if err != nil {
			return err
		}
		go func() { failed <- serveTCP(net.ListenConfig{}, a, lieTCP) }()
		go func() { failed <- lieUDP(u) }()
	}
	return <-failed
}

func lieTCP(c net.Conn) error {
	nonsense := []byte(strings.Repeat("220-you are welcome\r\n", 100))
	for {
		if _, err := c.Write(nonsense); err != nil {
			return nil // who is lied to hangs up
		}
	}
}

// lieUDP answers with what it was sent, turned around: the number of the request may be found in it, its answer never.
func lieUDP(u net.PacketConn) error {
	b := make([]byte, 2048)
	for {
		n, from, err := u.ReadFrom(b)
		if err != nil {
			return err
		}
		answer := make([]byte, n)
		for i, c := range b[:n] {
			answer[n-1-i] = c
		}
		for range 3 {
			u.WriteTo(answer, from)
		}
	}
}
