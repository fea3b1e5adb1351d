package main

import (
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// send puts a frame on a device as it is, once or at a steady pace.
func send(args []string) error {
	f := flag.NewFlagSet("send", flag.ContinueOnError)
	n := f.Int("n", 1, "how often")
	every := f.Duration("every", 50*time.Millisecond, "time between two")
	if err := f.Parse(args); err != nil || f.NArg() != 2 {
		return fmt.Errorf("usage: lab send [-n N] [-every T] DEVICE HEX")
	}
	frame, err := hex.DecodeString(f.Arg(1))
	if err != nil {
		return fmt.Errorf("send: the frame is no hexadecimal number: %w", err)
	}
	dev, err := net.InterfaceByName(f.Arg(0))
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0) // 0: it hears nothing
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	defer unix.Close(fd)
	to := &unix.SockaddrLinklayer{Ifindex: dev.Index}
	begin := time.Now()
	for i := range *n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * *every))) // so that the pace is kept although a sleep lasts longer than it should
		if err := unix.Sendto(fd, frame, 0, to); err != nil {
			return fmt.Errorf("send: %w", err)
		}
	}
	return nil
}
