package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sluice/cli/grammar"
	"sluice/mgmt/engine"
	"sluice/mgmt/render"
	"sluice/mgmt/store"
	"sluice/mgmt/watch"
	"sluice/vendor-config/schema"
)

// applyDir is the folder of the configuration's directory whose files come in force by themselves.
const applyDir = "apply.d"

// watchFiles takes in files that are put into apply.d, until ctx ends.
func (a *appliance) watchFiles(ctx context.Context) {
	dir := filepath.Join(a.store.Dir(), applyDir)
	if err := watch.Run(ctx, dir, a.applyFile, a.log); err != nil {
		a.log.Error("files", "error", err)
	}
}

// applyFile makes the running configuration what a file holds, or with .merge. in its name adds that to it, and saves it. All
// of the file must be right, and none of it may cut the operators off.
func (a *appliance) applyFile(name string, data []byte) (string, error) {
	if a.candidate.State().Unconfirmed {
		return "", errors.New("a commit waits to be confirmed: write the file again afterwards")
	}
	who := engine.Author{User: "system", Source: applyDir, Line: applyDir + "/" + name}
	var problems []render.Problem
	r, err := a.engine.Commit(who, func(c *schema.Config) error {
		base := c
		if !strings.Contains(name, ".merge.") {
			base = nil
		}
		next, found := document(name, data, base, c)
		if problems = found; len(found) > 0 {
			return first(found)
		}
		if hasNSIP(c) && !hasNSIP(next) {
			return errors.New("it holds no NSIP, and the appliance could not be reached any more")
		}
		c.Replace(next)
		return grammar.Check(next)
	})
	var b strings.Builder
	for i, p := range problems {
		if i == greetingLines {
			fmt.Fprintf(&b, "and %d more\n", len(problems)-i)
			break
		}
		fmt.Fprintf(&b, "%s\n", p)
	}
	if err != nil {
		return b.String(), flat(err)
	}
	fmt.Fprintf(&b, "version %d\n%s", r.Version, warnings(r.Warnings))
	return b.String(), a.store.Save(a.engine.Config(), store.Meta{By: applyDir, At: a.now()})
}

func hasNSIP(c *schema.Config) bool {
	for _, ip := range schema.All[schema.NSIP](c) {
		if ip.Type == "NSIP" {
			return true
		}
	}
	return false
}
