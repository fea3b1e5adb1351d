package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sluice/image/installer"
)

// mediumDevice is the installation medium by its label, and mediumFolder where it is mounted.
const (
	mediumDevice = "/dev/disk/by-label/SLUICE"
	mediumFolder = "/run/sluice/medium"
)

// install is the console of a machine that was started from the installation medium.
func install([]string) error {
	device, err := filepath.EvalSymlinks(mediumDevice)
	if err != nil {
		return fmt.Errorf("the installation medium is not found: %w", err)
	}
	own, err := installer.Whole("/sys", filepath.Base(device))
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(mediumFolder, "sluice")); err != nil {
		if err := os.MkdirAll(mediumFolder, 0o755); err != nil {
			return err
		}
		said, err := exec.Command("mount", "-t", "iso9660", "-o", "ro", device, mediumFolder).CombinedOutput()
		if _, e := os.Stat(filepath.Join(mediumFolder, "sluice")); err != nil && e != nil { // the other console may have been quicker
			return fmt.Errorf("the installation medium cannot be mounted: %w: %s", err, said)
		}
	}
	return installer.Dialogue{
		In: os.Stdin, Out: os.Stdout, Sys: "/sys", Dev: "/dev", Medium: filepath.Join(mediumFolder, "sluice"), Own: own,
		Lock: "/run/sluice/install.lock", Mount: "/run/sluice/target",
		Restart: func() error { return exec.Command("systemctl", "reboot").Run() },
	}.Run(context.Background())
}
