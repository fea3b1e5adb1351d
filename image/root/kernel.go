package root

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sluice/image/tool"
)

// kernelOf is the package that names a flavour's kernel: the cloud kernel has no drivers of real machines.
var kernelOf = map[string]string{"vm": "linux-image-cloud-amd64", "metal": "linux-image-amd64"}

// unwanted are the kernel's modules that an appliance never needs, as patterns below lib/modules/VERSION/kernel.
var unwanted = strings.Fields(`sound drivers/gpu drivers/media drivers/staging drivers/isdn drivers/bluetooth drivers/iio drivers/accessibility
	drivers/input/joystick drivers/input/tablet drivers/input/touchscreen drivers/usb/gadget drivers/usb/misc drivers/usb/serial drivers/usb/atm
	drivers/net/wireless drivers/net/can drivers/net/hamradio drivers/net/usb drivers/net/ieee802154 drivers/net/wwan drivers/net/arcnet drivers/net/fddi
	drivers/leds drivers/power drivers/comedi drivers/thunderbolt drivers/infiniband/ulp drivers/ata/pata* drivers/pcmcia drivers/firewire
	drivers/w1 drivers/nfc drivers/rtc drivers/parport drivers/pps drivers/atm drivers/target drivers/mtd drivers/block/drbd drivers/block/rbd* drivers/md/bcache
	drivers/memstick drivers/mmc drivers/gnss drivers/greybus drivers/soundwire drivers/extcon drivers/cdrom/gdrom* drivers/video
	net/bluetooth net/mac80211 net/wireless net/can net/ceph net/sctp net/rds net/tipc net/batman-adv net/dccp net/appletalk net/ax25 net/netrom net/rose
	net/6lowpan net/ieee802154 net/mac802154 net/nfc net/9p net/atm net/lapb net/x25 net/phonet net/openvswitch net/sunrpc net/rxrpc net/smc
	fs/ceph fs/btrfs fs/xfs fs/ocfs2 fs/gfs2 fs/nfs fs/nfsd fs/nfs_common fs/lockd fs/cifs fs/smbfs_common fs/ksmbd fs/afs fs/jfs fs/reiserfs fs/ubifs fs/f2fs
	fs/nilfs2 fs/udf fs/ntfs* fs/hfs* fs/orangefs fs/9p fs/coda fs/dlm fs/minix fs/ufs fs/sysv fs/qnx* fs/omfs fs/hpfs fs/befs fs/bfs fs/adfs fs/affs fs/efs
	fs/freevxfs fs/jffs2 fs/romfs fs/erofs fs/zonefs fs/ecryptfs fs/cachefiles fs/fscache`)

// kernelPackage is a kernel's package file and what it says of itself.
type kernelPackage struct {
	File string
	Name string // e.g. linux-image-6.1.0-57-cloud-amd64
}

// version is the kernel's own, e.g. 6.1.0-57-cloud-amd64.
func (k kernelPackage) version() string { return strings.TrimPrefix(k.Name, "linux-image-") }

// fetchKernel returns the package of the flavour's kernel, from the cache if it is there. It is not installed, which would
// bring programs that build an initramfs of their own, but unpacked.
func fetchKernel(ctx context.Context, box tool.Box, cache, flavour string) (kernelPackage, error) {
	meta := kernelOf[flavour]
	out, err := box.Output(ctx, "apt-cache", "depends", "--important", meta)
	if err != nil {
		return kernelPackage{}, err
	}
	name := dependsOn(out, "linux-image-")
	if name == "" {
		return kernelPackage{}, fmt.Errorf("apt on this machine does not know which kernel %s is: run apt-get update", meta)
	}
	out, err = box.Output(ctx, "apt-get", "download", "--print-uris", name)
	if err != nil {
		return kernelPackage{}, err
	}
	file, sum, err := parseURI(out)
	if err != nil {
		return kernelPackage{}, fmt.Errorf("package %s: %w", name, err)
	}
	file = filepath.Join(cache, file)
	if got, err := sha256Of(file); err == nil && got == sum {
		return kernelPackage{file, name}, nil
	}
	box.Say("fetching %s", name)
	// apt-get writes into its working directory; as another user than root it would not need to be allowed to.
	cmd := box.Command(ctx, "apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", name)
	cmd.Dir = cache
	if said, err := cmd.CombinedOutput(); err != nil {
		return kernelPackage{}, fmt.Errorf("package %s cannot be fetched: %w\n%s", name, err, said)
	}
	if got, err := sha256Of(file); err != nil || got != sum {
		return kernelPackage{}, fmt.Errorf("package %s is not what the index says (SHA-256 %s instead of %s)", name, got, sum)
	}
	return kernelPackage{file, name}, nil
}

// dependsOn finds the first dependency with a prefix in what apt-cache depends prints.
func dependsOn(out, prefix string) string {
	for s := bufio.NewScanner(strings.NewReader(out)); s.Scan(); {
		if name, ok := strings.CutPrefix(strings.TrimSpace(s.Text()), "Depends: "); ok && strings.HasPrefix(name, prefix) {
			return name
		}
	}
	return ""
}

// parseURI reads what apt-get download --print-uris prints: 'URI' FILE SIZE SHA256:DIGEST.
func parseURI(out string) (file, sum string, err error) {
	f := strings.Fields(out)
	if len(f) < 4 || !strings.HasPrefix(f[3], "SHA256:") || strings.Contains(f[1], "/") {
		return "", "", errors.New("apt does not say where it is and which SHA-256 it has")
	}
	return f[1], strings.TrimPrefix(f[3], "SHA256:"), nil
}

func sha256Of(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unpackKernel puts the kernel's modules into the root and the kernel itself at vmlinuz.
func unpackKernel(ctx context.Context, box tool.Box, k kernelPackage, dir, vmlinuz string) error {
	// As tar, since dpkg-deb -x would replace the link /lib by a directory.
	unpack := box.Command(ctx, "tar", "-x", "--keep-directory-symlink", "-C", dir, "./boot", "./lib/modules", "./usr/share/doc")
	in, err := unpack.StdinPipe()
	if err != nil {
		return err
	}
	if err := unpack.Start(); err != nil {
		return fmt.Errorf("tar: %w", err)
	}
	err = box.Pipe(ctx, nil, in, "dpkg-deb", "--fsys-tarfile", k.File)
	in.Close()
	if err := errors.Join(err, unpack.Wait()); err != nil {
		return fmt.Errorf("package %s cannot be unpacked: %w", k.Name, err)
	}
	if err := box.Run(ctx, "cp", filepath.Join(dir, "boot", "vmlinuz-"+k.version()), vmlinuz); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "boot")); err != nil {
		return err
	}
	modules := filepath.Join(dir, "usr/lib/modules", k.version(), "kernel")
	for _, pattern := range unwanted {
		found, err := filepath.Glob(filepath.Join(modules, pattern))
		if err != nil {
			return err
		}
		for _, f := range found {
			if err := os.RemoveAll(f); err != nil {
				return err
			}
		}
	}
	return box.Run(ctx, "depmod", "-b", dir, k.version())
}
