package schema

import "strings"

// SystemBackup is a file with everything that makes this appliance what it is.
type SystemBackup struct {
	File    string `cli:"fileName" pos:"1" max:"63" syntax:"archive" only:"create,show" help:"Name of the backup; create makes one of level, host and time if it is left out, show tells of all"`
	Level   string `cli:"level" only:"create" def:"basic" enum:"basic,full" help:"basic holds the configuration, the files of /ssl and the scripts of monitors; full the SSH host key and the banner too"`
	Comment string `cli:"comment" only:"create" max:"255" help:"What it is for; it stands in the backup"`
}

// SystemBackupFile is a backup that is there.
type SystemBackupFile struct {
	File       string `cli:"fileName" pos:"1" required:"yes" max:"63" syntax:"archive" help:"Name of the backup; it lies in /config/backup, where SFTP fetches and leaves them"`
	SkipBackup string `cli:"skipbackup" flag:"yes" only:"restore" help:"Make no backup of what is replaced"`
}

func init() {
	register[SystemBackup]("system backup", "system-backup", "create show", "Backup of the configuration with all that belongs to it", false)
	register[SystemBackupFile]("system backup", "system-backup-file", "add rm restore", "Backup that is there: add checks it, restore puts it in force at once and saves it", false)
}

// archiveFault: names of backups are names of files on every system.
func archiveFault(s string) string {
	if s == "" || strings.ContainsRune("-.", rune(s[0])) || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return "the name of a backup is letters, digits and . _ - and begins with none of . and -"
	}
	return ""
}
