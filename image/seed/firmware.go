package seed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sluice/image/firstboot"
)

// fwcfg is where the kernel shows what QEMU was given by -fw_cfg name=opt/org.sluice/...
const fwcfg = "firmware/qemu_fw_cfg/by_name/opt/org.sluice"

// FirmwareConfig reads the files of QEMU's fw_cfg; found tells whether there is one of them.
func FirmwareConfig(sys string) (f firstboot.Files, found bool, err error) {
	for name, to := range map[string]*[]byte{"user-data": &f.UserData, "meta-data": &f.MetaData, "network-config": &f.NetworkConfig} {
		text, e := bounded(os.Open(filepath.Join(sys, fwcfg, name, "raw")))
		switch {
		case e == nil:
			*to, found = text, true
		case !errors.Is(e, fs.ErrNotExist):
			err = errors.Join(err, e)
		}
	}
	return f, found, err
}

// OEM reads the firmware's structures of OEM strings (SMBIOS type 11).
func OEM(sys string) (structures [][]byte) {
	all, _ := filepath.Glob(filepath.Join(sys, "firmware/dmi/entries/11-*/raw"))
	for _, name := range all {
		if raw, err := bounded(os.Open(name)); err == nil {
			structures = append(structures, raw)
		}
	}
	return structures
}

// OnEC2 tells whether the firmware says that the machine is one of EC2's. Elsewhere anybody on the network could answer in its place.
func OnEC2(sys string) bool {
	for _, name := range []string{"sys_vendor", "bios_vendor", "board_vendor", "product_version", "bios_version"} {
		text, err := os.ReadFile(filepath.Join(sys, "class/dmi/id", name))
		if err == nil && strings.Contains(strings.ToLower(string(text)), "amazon") {
			return true
		}
	}
	return false
}
