package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is one line of the menu.
type entry struct {
	what string
	do   func() error
}

// menu is what is left when management does not answer, or for who says so at the login. What would lose something must be typed out.
func (c *Console) menu(silent bool) error {
	all := []entry{{"look again", func() error { return nil }}}
	if silent {
		c.say("Management does not answer.")
		for _, s := range c.Machine.Wrong() {
			c.say("! %s", s)
		}
		all = append(all, entry{"restart management and the dataplane", c.restart})
		if earlier := c.earlier(); earlier != "" {
			all = append(all, entry{"start with the previous configuration, " + earlier, c.previous})
		}
		if c.Machine.InMemory() {
			all = append(all, entry{"make the damaged partition of the configuration anew", c.newVolume})
		}
	}
	all = append(all, entry{"factory reset: configuration, keys and passwords are deleted", c.reset},
		entry{"restart the machine", c.Machine.Reboot}, entry{"switch the machine off", c.Machine.PowerOff})
	for n, e := range all {
		c.say("  %d  %s", n+1, e.what)
	}
	s, err := c.line("Choose: ")
	if err != nil {
		return err
	}
	for n, e := range all {
		if s == fmt.Sprint(n+1) {
			return e.do()
		}
	}
	if s != "" {
		c.say("Give one of the numbers.")
	}
	return nil
}

// sure has a phrase typed out.
func (c *Console) sure(phrase string) (bool, error) {
	s, err := c.line(fmt.Sprintf("Type %s to go on, anything else to leave it: ", phrase))
	if err == nil && s != phrase {
		c.say("Nothing is changed.")
	}
	return s == phrase, err
}

func (c *Console) restart() error {
	c.say("Management and the dataplane restart.")
	return c.Machine.Restart()
}

// earlier says when the previous configuration was saved.
func (c *Console) earlier() string {
	info, err := os.Stat(earlierFile(c.Config))
	if err != nil {
		return ""
	}
	return "saved at " + info.ModTime().UTC().Format("2006-01-02 15:04:05") + " UTC"
}

// earlierFile is the newest of the earlier configurations, or "". After a save that was cut off startup.xml.0 is a second name of the
// present one.
func earlierFile(config string) string {
	now, _ := os.Stat(filepath.Join(config, "startup.xml"))
	for n := range 10 {
		name := filepath.Join(config, fmt.Sprintf("startup.xml.%d", n))
		if info, err := os.Stat(name); err == nil && (now == nil || !os.SameFile(info, now)) {
			return name
		}
	}
	return ""
}

func (c *Console) previous() error {
	if err := c.Machine.Hold(); err != nil {
		return err
	}
	aside, err := Previous(c.Config)
	if err != nil {
		return errors.Join(fmt.Errorf("the configuration stays: %w", err), c.Machine.Restart())
	}
	if aside != "" {
		c.say("The configuration of now is kept as %s.", aside)
	}
	return c.Machine.Restart()
}

// Previous makes the earlier configuration the one that is started with. The present one is kept under the name that it returns.
func Previous(config string) (aside string, err error) {
	startup, earlier := filepath.Join(config, "startup.xml"), earlierFile(config)
	if earlier == "" {
		return "", errors.New("there is no earlier configuration")
	}
	if _, err := os.Stat(startup); err == nil {
		for n := 1; ; n++ {
			aside = fmt.Sprintf("startup.xml.rescued-%d", n)
			err := os.Link(startup, filepath.Join(config, aside))
			if err == nil {
				break
			}
			if !errors.Is(err, fs.ErrExist) {
				return "", err
			}
		}
	}
	if err := os.Rename(earlier, startup); err != nil {
		return "", err
	}
	return aside, syncDir(config)
}

func (c *Console) newVolume() error {
	c.say("What is left of the earlier configuration on the partition is lost by this.")
	if ok, err := c.sure("make it anew"); !ok {
		return err
	}
	if err := c.Machine.NewVolume(); err != nil {
		return err
	}
	return c.Machine.Reboot()
}

func (c *Console) reset() error {
	c.say("Everything in /config and /data is deleted, and the machine restarts as at its first boot.")
	if ok, err := c.sure("factory reset"); !ok {
		return err
	}
	if err := c.Machine.Hold(); err != nil {
		return err
	}
	if err := Reset(c.Config, c.Data); err != nil {
		return fmt.Errorf("not everything is deleted: %w", err)
	}
	c.say("The machine restarts.")
	err := c.Machine.Reboot()
	time.Sleep(time.Second) // what is said next is not for who reads this
	return err
}

// Reset deletes what a machine has learned and saved. The box's record comes last: cut off before it, the machine still has its password,
// and the reset can be asked for again.
func Reset(config, data string) error {
	var errs []error
	for _, dir := range []string{data, config} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(last(a), last(b)) })
		for _, e := range entries {
			if e.Name() != "lost+found" {
				errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
		if err == nil {
			errs = append(errs, syncDir(dir))
		}
	}
	return errors.Join(errs...)
}

// last puts the record behind all else.
func last(e fs.DirEntry) string {
	if e.Name() == "boot.yaml" {
		return "\xff"
	}
	return e.Name()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
