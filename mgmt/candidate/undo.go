package candidate

import (
	"fmt"
	"time"

	"sluice/mgmt/engine"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// undoRetry is the time to the next attempt after one that failed.
const undoRetry = time.Second

// wait lets the way back be gone when its time has come. The caller holds mu.
func (c *Candidate) wait(undo *store.Return) {
	c.forget()
	c.undo = undo
	c.alarm = time.AfterFunc(max(undo.Until-c.clock(), 0), func() { c.expire(undo) })
}

// Resume goes on with the way back that an earlier run has left.
func (c *Candidate) Resume(undo *store.Return) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait(undo)
}

// Overdue tells whether the time of a way back has come.
func (c *Candidate) Overdue(undo *store.Return) bool { return c.clock() >= undo.Until }

// expire goes the way back, unless another one has taken its place.
func (c *Candidate) expire(undo *store.Return) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.undo != undo {
		return
	}
	who := engine.Author{User: "system", Source: "commit confirmed"}
	if _, err := c.back(who, fmt.Sprintf("the commit of %s was not confirmed", undo.By)); err != nil {
		c.log.Error("a commit that was not confirmed cannot be undone; it is tried again", "error", err)
		undo.Until = c.clock() + undoRetry
		c.wait(undo)
	}
}

// Cancel undoes the commit that waits to be confirmed.
func (c *Candidate) Cancel(who engine.Author) (engine.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.undo == nil {
		return engine.Result{}, schema.Refuse(schema.NotPermitted, "commit cancel").Because("no commit waits to be confirmed")
	}
	return c.back(who, "it was cancelled")
}

// back puts in force what was before the commit that waits. The way back goes only when that is on the disk, or a kill in
// between would leave the commit in force for ever. The caller holds mu.
func (c *Candidate) back(who engine.Author, why string) (engine.Result, error) {
	undo := c.undo
	if who.Line == "" {
		who.Line = fmt.Sprintf("return to version %d", undo.Version)
	}
	who.Comment = why
	r, err := c.engine.Commit(who, func(running *schema.Config) error {
		running.Replace(undo.Config)
		return nil
	})
	if err != nil {
		return r, err
	}
	if err := c.files.Flush(); err != nil {
		return r, err
	}
	if err := c.files.DropReturn(); err != nil {
		return r, err
	}
	c.forget()
	return r, nil
}

// Forget leaves what waits to the next run of management.
func (c *Candidate) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
}
