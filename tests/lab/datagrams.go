package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// udpSink takes datagrams at addresses, answers none, and writes a line for each: the address, the sender's and the text.
func udpSink(file string, addrs []string) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("udp-sink: %w", err)
	}
	failed := make(chan error)
	for _, a := range addrs {
		conn, err := net.ListenPacket("udp4", a)
		if err != nil {
			return fmt.Errorf("udp-sink: %w", err)
		}
		go func() {
			buf := make([]byte, 2048)
			for {
				n, peer, err := conn.ReadFrom(buf)
				if err == nil {
					_, err = fmt.Fprintf(out, "%s %s %s\n", a, peer, buf[:n]) // one write a line, which O_APPEND keeps whole
				}
				if err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return fmt.Errorf("udp-sink: %w", <-failed)
}

// udpTell sends N datagrams to each ADDRESS=N, one after another, each from a port of its own and with its number as text. Nobody
// else's port is taken, so that each is a new flow as long as the ports are.
func udpTell(first string, to []string) error {
	port, err := strconv.Atoi(first)
	if err != nil {
		return fmt.Errorf("udp-tell: %w", err)
	}
	for _, t := range to {
		addr, count, _ := strings.Cut(t, "=")
		n, err := strconv.Atoi(count)
		if err != nil {
			return fmt.Errorf("udp-tell: %s: how many datagrams? %w", t, err)
		}
		peer, err := net.ResolveUDPAddr("udp4", addr)
		if err != nil {
			return fmt.Errorf("udp-tell: %w", err)
		}
		for ; n > 0; n-- {
			conn, err := net.DialUDP("udp4", &net.UDPAddr{Port: port}, peer)
			if err != nil {
				return fmt.Errorf("udp-tell: %w", err)
			}
			if _, err := fmt.Fprint(conn, port); err != nil {
				return fmt.Errorf("udp-tell: %w", err)
			}
			conn.Close()
			port++
		}
	}
	return nil
}
