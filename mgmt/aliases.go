package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sluice/cli/shell"
	"sluice/vendor-config/schema"
)

const (
	aliasFolder = "aliases" // in the configuration folder, with a file for each user who has any
	aliasesMost = 100       // of a user
)

var _ shell.Aliaser = (*operator)(nil)

// Aliases are the user's own words. They are no part of the configuration: neither saved nor loaded nor backed up with it.
func (o *operator) Aliases(user string) (map[string]string, error) {
	o.aliases.Lock()
	defer o.aliases.Unlock()
	return o.readAliases(user)
}

func aliasFile(user string) string { return filepath.Join(aliasFolder, user+".json") }

func (o *operator) readAliases(user string) (map[string]string, error) {
	all := map[string]string{}
	text, err := o.store.Read(aliasFile(user))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the aliases of %s cannot be read: %w; remove /config/%s", user, err, aliasFile(user))
	}
	return all, nil
}

// Alias keeps a word of the user, or forgets it when no command is given.
func (o *operator) Alias(user, word, command string) error {
	o.aliases.Lock()
	defer o.aliases.Unlock()
	if strings.ContainsAny(user, "/\x00") { // no account is called so
		return schema.Refuse(schema.NotPermitted, "alias")
	}
	all, err := o.readAliases(user)
	if err != nil {
		return err
	}
	delete(all, word)
	if command != "" {
		all[word] = command
	}
	if len(all) > aliasesMost {
		return schema.Refuse(schema.NotPermitted, "alias").Because(fmt.Sprintf("a user has %d at most; unalias one first", aliasesMost))
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(o.store.Dir(), aliasFolder), 0o700); err != nil {
		return flat(fmt.Errorf("the alias cannot be kept: %w", err))
	}
	if err := o.store.Put(aliasFile(user), append(text, '\n')); err != nil {
		return flat(fmt.Errorf("the alias cannot be kept: %w", err))
	}
	return nil
}
