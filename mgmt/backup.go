package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"sluice/cli/grammar"
	"sluice/mgmt/engine"
	"sluice/mgmt/show"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// errBackup is the answer to what is about backups while another one is made or restored.
var errBackup = errors.New("A backup is being made or restored")

// aboutBackup tells whether an operation is about backups.
func aboutBackup(op *grammar.Op) bool {
	return op.Object == schema.Of[schema.SystemBackup]() || op.Object == schema.Of[schema.SystemBackupFile]()
}

// backup executes what aboutBackup tells.
func (o *operator) backup(who engine.Author, op *grammar.Op) (string, error) {
	name, _ := op.Arg("fileName")
	if op.Verb == "show" {
		all, err := o.store.Backups(name)
		return show.Backups(all), err
	}
	if !o.backups.TryLock() {
		return "", errBackup
	}
	defer o.backups.Unlock()
	var told []string
	var err error
	switch op.Verb {
	case "create":
		told, err = o.createBackup(who, name, op)
	case "add":
		_, _, err = o.fitBackup(name)
	case "rm":
		err = o.store.RemoveBackup(name)
	case "restore":
		_, alone := op.Arg("skipbackup")
		told, err = o.restoreBackup(who, name, !alone)
	}
	o.audit(op.Verb+" backup", who, "Done", err)
	return warnings(told), err
}

// besides are the files of the appliance that a full backup holds besides the folders.
func (a *appliance) besides() (names []string) {
	for _, file := range []string{a.hostKey, a.banner} {
		if file != "" && filepath.Dir(file) == filepath.Clean(a.store.Dir()) {
			names = append(names, filepath.Base(file))
		}
	}
	return names
}

func (o *operator) createBackup(who engine.Author, name string, op *grammar.Op) ([]string, error) {
	comment, _ := op.Arg("comment")
	level, given := op.Arg("level")
	if !given {
		level = "basic"
	}
	at := o.now().UTC()
	if name == "" {
		name = strings.Map(func(c rune) rune {
			if c < 0x80 && (c == '-' || c == '.' || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z') {
				return c
			}
			return '_'
		}, fmt.Sprintf("backup_%s_%.24s_%s", level, o.hostName(), at.Format("2006_01_02_15_04_05")))
	}
	return o.keepBackup(who, name, level, comment)
}

// keepBackup makes a backup of what is in force.
func (o *operator) keepBackup(who engine.Author, name, level, comment string) ([]string, error) {
	m := store.Manifest{Level: level, Comment: comment, By: who.User, Host: o.hostName(), Release: o.system.Release, At: o.now().UTC().Truncate(time.Second)}
	skipped, err := o.store.Backup(name, o.engine.Config(), m, o.besides())
	if err != nil {
		return nil, err
	}
	told := []string{"The backup is " + strings.TrimSuffix(name, ".tgz") + ", to be fetched from /config/backup; it holds secrets."}
	if n := len(skipped); n > 0 {
		told = append(told, fmt.Sprintf("%d files are not in it, since they are links, hidden or no files, among them %q.", n, skipped[0]))
	}
	return told, nil
}

// fitBackup reads a backup and tells whether it could be restored by somebody who may do everything.
func (o *operator) fitBackup(name string) (*store.Archive, *schema.Config, error) {
	besides := o.besides()
	a, err := o.store.ReadBackup(name, besides)
	if err != nil {
		return nil, nil, err
	}
	if key := a.File(filepath.Base(o.hostKey)); key != nil { // another one would shut the door for good
		if _, err := ssh.ParsePrivateKey(key); err != nil {
			return nil, nil, schema.Refuse(schema.BadArgument, name).Because("its SSH host key is no key")
		}
	}
	c, problems := document(store.File, a.File(store.File), nil, nil)
	if len(problems) > 0 {
		return nil, nil, schema.Refuse(schema.BadArgument, name).Because(first(problems).Error())
	}
	return a, c, o.engine.Check(c)
}

// restoreBackup puts a backup in force, at once and as one version, and saves it. What is replaced is kept as a backup first.
// Files that are there and not in the backup stay.
func (o *operator) restoreBackup(who engine.Author, name string, keep bool) (told []string, err error) {
	a, c, err := o.fitBackup(name)
	if err == nil {
		err = o.mayChange(c)
	}
	if err == nil && o.candidate.State().Unconfirmed {
		err = schema.Refuse(schema.NotPermitted, "restore system backup").Because("a commit waits to be confirmed; give commit to keep it, or wait until it is undone")
	}
	if err != nil {
		return nil, err
	}
	if keep {
		before := "before_restore_" + o.now().UTC().Format("2006_01_02_15_04_05.000")
		if _, err := o.keepBackup(who, before, "full", "what restore system backup "+name+" replaced"); err != nil {
			return nil, fmt.Errorf("%w; with -skipbackup what is replaced is not kept", err)
		}
		told = append(told, "What was in force is kept as system backup "+before+".")
	}
	if err := o.store.Stage(a); err != nil {
		return told, err
	}
	r, err := o.engine.Commit(who, func(running *schema.Config) error { running.Replace(c); return nil })
	if err != nil {
		return told, errors.Join(err, o.store.Unstage())
	}
	told = append(told, r.Warnings...)
	told = append(told, o.forget()...)
	err = o.store.Place()
	if err != nil {
		err = fmt.Errorf("The configuration is in force, but the files of the backup are not all in their places: %w", err)
	}
	err = errors.Join(err, o.save(who), o.store.Unstage())
	if a.File(filepath.Base(o.hostKey)) != nil {
		told = append(told, "The SSH host key counts from the next start of management on.")
	}
	return told, err
}

// finishRestore finishes a restore in which management was killed.
func (a *appliance) finishRestore() error {
	done, err := a.store.FinishRestore()
	if done {
		a.log.Warn("the restore of a backup was cut off, and is finished: its configuration is the startup configuration")
	}
	return err
}
