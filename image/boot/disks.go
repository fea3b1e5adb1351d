package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"sluice/image/notes"
	"sluice/image/volume"
)

// disks readies the partitions that are written to. It fails only when there is no folder for a configuration at all.
func disks([]string) error {
	v := &volume.Volumes{Sys: "/sys", Dev: "/dev", Config: "/config", Data: "/data", Log: os.Stdout, Now: time.Now}
	said := v.Ready()
	err := notes.Put(notes.Dir, "disks", said)
	if !volume.Mounted(v.Config) {
		return errors.Join(errors.New("there is no folder for the configuration"), err)
	}
	if e := v.KeepIdentity("/etc"); e != nil { // the journal of the next start is filed under another name then, and nothing else
		fmt.Println("sluice:", e)
	}
	return err
}
