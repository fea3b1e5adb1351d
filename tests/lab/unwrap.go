package main

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unwrap is the far end of a tunnel of RFC 2003 for kernels that have none (ipip): what comes in IP packets to this node comes out
// of a device of that name, which it makes.
func unwrap(device string) error {
	tun, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("unwrap: /dev/net/tun: %w", err)
	}
	var request struct { // struct ifreq
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:unix.IFNAMSIZ-1], device)
	request.flags = unix.IFF_TUN | unix.IFF_NO_PI
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(tun), unix.TUNSETIFF, uintptr(unsafe.Pointer(&request))); e != 0 {
		return fmt.Errorf("unwrap: device %s: %w", device, e)
	}
	out := os.NewFile(uintptr(tun), device)
	in, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_IPIP)
	if err != nil {
		return fmt.Errorf("unwrap: raw socket: %w", err)
	}
	buf := make([]byte, 65536)
	for {
		n, _, err := unix.Recvfrom(in, buf, 0)
		if err == unix.EINTR {
			continue
		} else if err != nil {
			return fmt.Errorf("unwrap: %w", err)
		}
		if header := int(buf[0]&15) * 4; n > header {
			_, _ = out.Write(buf[header:n]) // an inner packet that the kernel does not take is lost as on any tunnel
		}
	}
}
