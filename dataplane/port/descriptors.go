package port

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The af_packet and tap drivers offer no receive interrupt and do not tell their descriptors. They are found once, when
// a port has been opened, among those of this process.

// packetDescriptors returns the AF_PACKET sockets bound to a device, ascending.
func packetDescriptors(ifindex int) []int {
	return ownDescriptors(func(fd int, target string) bool {
		if !strings.HasPrefix(target, "socket:") {
			return false
		}
		sa, err := unix.Getsockname(fd)
		if err != nil {
			return false
		}
		ll, ok := sa.(*unix.SockaddrLinklayer)
		return ok && ll.Ifindex == ifindex
	})
}

// tapDescriptors returns the descriptors of a tap, ascending.
func tapDescriptors(device string) []int {
	return ownDescriptors(func(fd int, target string) bool {
		if target != "/dev/net/tun" {
			return false
		}
		info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
		if err != nil {
			return false
		}
		for line := range strings.Lines(string(info)) {
			if name, ok := strings.CutPrefix(line, "iff:"); ok {
				return strings.TrimSpace(name) == device
			}
		}
		return false
	})
}

// ownDescriptors returns this process's descriptors that fit, ascending.
func ownDescriptors(fits func(fd int, target string) bool) []int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	var fds []int
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// The descriptor of ReadDir itself is closed by now: Readlink fails.
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && fits(fd, target) {
			fds = append(fds, fd)
		}
	}
	slices.Sort(fds)
	return fds
}
