package port

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands of ethtool (linux/ethtool.h).
const (
	ethtoolGetFlags = 0x25
	ethtoolSetFlags = 0x26
	ethtoolSetGRO   = 0x2c
	ethtoolFlagLRO  = 1 << 15
)

// ethtoolValue is struct ethtool_value.
type ethtoolValue struct{ cmd, data uint32 }

// splitPackets has the kernel hand a device's packets over as they come: merged ones (generic and large receive offload) are longer
// than a buffer and than any MTU on the other side. Devices that cannot merge refuse, which is as good; one that
// merges nevertheless shows in drop-oversized.
func splitPackets(device string) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	_ = ethtool(fd, device, &ethtoolValue{cmd: ethtoolSetGRO})
	if v := (ethtoolValue{cmd: ethtoolGetFlags}); ethtool(fd, device, &v) == nil && v.data&ethtoolFlagLRO != 0 {
		_ = ethtool(fd, device, &ethtoolValue{cmd: ethtoolSetFlags, data: v.data &^ ethtoolFlagLRO})
	}
}

// ethtool asks the kernel; the answer is in v.
func ethtool(fd int, device string, v *ethtoolValue) error {
	var request struct { // struct ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(request.name[:unix.IFNAMSIZ-1], device)
	request.data = unsafe.Pointer(v)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
