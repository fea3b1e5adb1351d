package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sluice/cli/grammar"
	"sluice/cli/shell"
	"sluice/mgmt/aaa"
	"sluice/mgmt/show"
	"sluice/mgmt/sshd"
	"sluice/mgmt/store"
	"sluice/mgmt/transfer"
	"sluice/vendor-config/schema"
)

// guard tells who may have a command executed.
type guard interface {
	May(aaa.Person, *grammar.Op) error
}

// logins are the sessions of the door.
type logins interface {
	Logins() []sshd.Login
	Kill(id uint64, why string) bool
}

// accounts are who may log in: those of the settings, and those of the configuration.
func (a *appliance) accounts(s *settings) (*aaa.Accounts, error) {
	var list []aaa.Account
	for _, u := range s.Users {
		list = append(list, aaa.Account{Name: u.Name, PasswordHash: u.PasswordHash, AuthorizedKeys: u.AuthorizedKeys})
	}
	return aaa.New(list, a.engine.Config, a.log)
}

// boxRecord is the file in the configuration's folder that an image keeps about the machine: hashes of passwords, which cards are what.
const boxRecord = "boot.yaml"

// transfers are the folders that operators see by SFTP: the configuration, in it certificates and traces with a name of their
// own as well. What management alone writes there, and the secrets that the door opens by, they do not see.
func (a *appliance) transfers(s *settings, file string, accounts *aaa.Accounts) transfer.Options {
	o := transfer.Options{
		Folders: []transfer.Folder{
			{Name: "config", Also: []string{"nsconfig"}, Path: s.ConfigDir,
				Hidden: append([]string{filepath.Base(s.SSH.HostKey), filepath.Base(file), aliasFolder, boxRecord}, store.Private...)},
			{Name: "ssl", Path: filepath.Join(s.ConfigDir, "ssl")},
			{Name: "traces", Also: []string{"nstrace"}, Path: filepath.Join(s.ConfigDir, "traces")},
		},
		May: func(l sshd.Login, command string) error { return accounts.MayDo(l.Person, command) },
		Log: a.log,
	}
	if _, err := os.Stat(filepath.Dir(s.ImagesDir)); err == nil { // a machine with a disk for data
		o.Folders = append(o.Folders, transfer.Folder{Name: "images", Path: s.ImagesDir})
	}
	return o
}

// backend is what a session works on.
func (a *appliance) backend(l sshd.Login) shell.Backend {
	return &operator{appliance: a, login: l, source: l.Source}
}

// may tells why the session's user may not have op executed. The shell and NETCONF ask it for each.
func (o *operator) may(op *grammar.Op) error {
	if err := o.lockedOut(op); err != nil {
		return err
	}
	if o.guard == nil {
		return nil
	}
	return o.guard.May(o.login.Person, op)
}

// doAllowed executes by do those of the changes that the session's user may make, and refuses the others.
func (o *operator) doAllowed(ops []*grammar.Op, do func([]*grammar.Op) []shell.Outcome) []shell.Outcome {
	out := make([]shell.Outcome, len(ops))
	var allowed []*grammar.Op
	var places []int
	for i, op := range ops {
		if err := o.may(op); err != nil {
			out[i].Err = err
			continue
		}
		allowed, places = append(allowed, op), append(places, i)
	}
	for i, r := range do(allowed) {
		out[places[i]] = r
	}
	return out
}

// logins are the sessions that are going on.
func (o *operator) logins() (all []show.Login) {
	if o.door == nil {
		return nil
	}
	for _, l := range o.door.Logins() {
		all = append(all, show.Login{ID: l.ID, User: l.User, Source: l.Source, Kind: l.Kind, Since: l.Since, Own: l.ID == o.login.ID})
	}
	return all
}

// kill ends one session or all others.
func (o *operator) kill(op *grammar.Op) error {
	id, one := op.Arg("sid")
	_, all := op.Arg("all")
	switch {
	case one == all:
		return schema.Refuse(schema.Missing, "sid", "-all").Because("give one of the two")
	case o.door == nil:
		return schema.Refuse(schema.NoSuchRow, "sid", id)
	}
	why := "killed by " + o.login.User
	for _, l := range o.door.Logins() {
		if all && l.ID != o.login.ID || one && fmt.Sprint(l.ID) == id {
			o.door.Kill(l.ID, why)
			one = false
		}
	}
	if one {
		return schema.Refuse(schema.NoSuchRow, "sid", id)
	}
	return nil
}

// bannerMost bounds what is read of the banner in bytes.
const bannerMost = 8 << 10

// bannerOf reads what everybody is shown before the login, at each, so that another text counts at once.
func bannerOf(path string) func() string {
	return func() string {
		f, err := os.Open(path)
		if err != nil {
			return ""
		}
		defer f.Close()
		b := make([]byte, bannerMost)
		n, _ := f.Read(b)
		text := strings.TrimRight(strings.ToValidUTF8(string(b[:n]), ""), "\n")
		if text == "" {
			return ""
		}
		return text + "\n"
	}
}
