package monitor

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// fullBacklog is a listener whose queue of connections is full and that accepts none.
func fullBacklog(t *testing.T) (netip.AddrPort, func()) {
	t.Helper()
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 11}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(l, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(l)
	if err != nil {
		t.Fatal(err)
	}
	at := name.(*unix.SockaddrInet4)
	fds := []int{l}
	for range 4 { // backlog 0 holds one
		c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		fds = append(fds, c)
		if err := unix.Connect(c, at); err != nil && err != unix.EINPROGRESS {
			t.Fatal(err)
		}
	}
	return netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port)), func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}
}
