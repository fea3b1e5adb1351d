package disk

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"sluice/image/tool"
)

// modules are the parts of GRUB that both firmwares need: what our grub.cfg says and nothing else.
var modules = strings.Fields("part_gpt fat search search_label configfile normal linux iso9660 search_fs_file serial terminal loadenv test echo minicmd reboot sleep all_video gzio")

// The places of GRUB's own folders, of the packages grub-pc-bin and grub-efi-amd64-bin.
const (
	grubBIOS = "/usr/lib/grub/i386-pc"
	grubEFI  = "/usr/lib/grub/x86_64-efi"
)

// makeCore makes GRUB with its modules and first commands in one file, for BIOS or UEFI.
func makeCore(ctx context.Context, box tool.Box, platform, early, file string) error {
	args := []string{"-O", platform, "-d", "/usr/lib/grub/" + strings.TrimSuffix(platform, "-eltorito"), "-p", "/grub", "-c", early, "-o", file}
	args = append(args, modules...)
	if strings.HasPrefix(platform, "i386-pc") {
		args = append(args, "biosdisk")
	} else {
		args = append(args, "efi_gop")
	}
	if err := box.Run(ctx, "grub-mkimage", args...); err != nil {
		return fmt.Errorf("the boot loader cannot be made (packages grub-pc-bin, grub-efi-amd64-bin, grub-common): %w", err)
	}
	return nil
}

// Where GRUB's first sector and the head of its core are told what they cannot find out: the offsets are those of
// boot.S and diskboot.S of GRUB 2.06.
const (
	bootKernelSector = 0x5c  // in the first sector: where the core lies, 8 bytes
	bootDriveCheck   = 0x66  // a jump that is replaced by two NOPs, so that the drive that the BIOS names is believed
	bootTable        = 0x1b8 // from here on the first sector belongs to the partition table
	coreBlockList    = 0x1f4 // in the core's first sector: its other sectors: first 8 bytes, count 2, segment 2
	coreSegment      = 0x820
)

// biosParts are GRUB's first sector, as far as it is GRUB's, and its core for a partition that begins at a place.
func biosParts(coreFile string, at int64) (boot, core []byte, err error) {
	boot, err = os.ReadFile(grubBIOS + "/boot.img")
	if err != nil {
		return nil, nil, fmt.Errorf("GRUB for BIOS is missing (package grub-pc-bin): %w", err)
	}
	if core, err = os.ReadFile(coreFile); err != nil {
		return nil, nil, err
	}
	if len(boot) != sector || len(core) < 2*sector {
		return nil, nil, fmt.Errorf("GRUB for BIOS has sizes that are not understood: %d and %d bytes", len(boot), len(core))
	}
	first := uint64(at / sector)
	binary.LittleEndian.PutUint64(boot[bootKernelSector:], first)
	boot[bootDriveCheck], boot[bootDriveCheck+1] = 0x90, 0x90
	sectors := (len(core) + sector - 1) / sector
	binary.LittleEndian.PutUint64(core[coreBlockList:], first+1)
	binary.LittleEndian.PutUint16(core[coreBlockList+8:], uint16(sectors-1))
	binary.LittleEndian.PutUint16(core[coreBlockList+10:], coreSegment)
	return boot[:bootTable], core, nil
}

// installBIOS writes GRUB for BIOS into the disk: its first sector, and the core into the partition made for it.
func installBIOS(disk *os.File, coreFile string, at, room int64) error {
	boot, core, err := biosParts(coreFile, at)
	if err != nil {
		return err
	}
	if int64(len(core)) > room {
		return fmt.Errorf("GRUB for BIOS has %d bytes, its partition %d", len(core), room)
	}
	if _, err := disk.WriteAt(boot, 0); err != nil {
		return err
	}
	_, err = disk.WriteAt(core, at)
	return err
}
