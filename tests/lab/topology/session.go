package topology

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Main is what the TestMain of a package does that runs its tests in a lab of the name: it sets the lab and ends the program. Without
// ready the lab's appliance is the tests' own business.
func Main(lab **Lab, name string, ready func() error, run func() int) {
	code, err := 1, error(nil)
	if *lab, err = New(tagged(name), "../../bin"); err == nil {
		if ready == nil {
			code, err = (*lab).Hold(func() (int, error) { return run(), nil })
		} else {
			code, err = (*lab).Test(ready, run)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
	}
	os.Exit(code)
}

// tagged is the name of a lab with the tag of T=TOPOLOGY@TAG in the environment behind it, so that two runs of a package do not
// take each other's.
func tagged(name string) string {
	_, tag, _ := strings.Cut(os.Getenv("T"), "@")
	if !strings.Contains(name, "@") {
		name += "@"
	}
	return name + tag
}

// Beside is what a test does that needs another lab than its package's: it brings that up with the tag of the package's one, has
// lab be it while run is, and takes it down again.
func Beside(lab **Lab, name string, ready func() error, run func()) error {
	first := *lab
	other, err := New(tagged(name), first.Bin)
	if err != nil {
		return err
	}
	defer func() { *lab = first }()
	*lab = other
	_, err = other.Test(ready, func() int { run(); return 0 })
	return err
}

// Test brings the lab up, configured and saved, calls ready and then run, and takes everything down again; what is left behind
// after that is an error. With KEEP in the environment the lab stays. The code is that of run, or 1 with an error.
func (l *Lab) Test(ready func() error, run func() int) (code int, err error) {
	return l.Hold(func() (int, error) {
		if _, err := l.Appliance().Script(l.Script() + "save ns config\n"); err != nil {
			return 1, err
		}
		if err := ready(); err != nil {
			return 1, err
		}
		return run(), nil
	})
}

// Hold is Test without an appliance that is configured: it brings the lab up, calls use, and takes everything down again.
func (l *Lab) Hold(use func() (int, error)) (code int, err error) {
	if _, err := os.Stat(filepath.Join(l.Bin, "sluice-mgmt")); err != nil {
		return 1, fmt.Errorf("the programs are not built: run make build: %w", err)
	}
	if err := l.Up(); err != nil {
		return 1, err
	}
	defer func() {
		if os.Getenv("KEEP") == "" {
			err = errors.Join(err, l.Down())
			if left := l.Left(); left != "" {
				err = errors.Join(err, fmt.Errorf("taken down, but still there: %s", left))
			}
		}
		if err != nil {
			code = 1
		}
	}()
	return use()
}

// Settled waits until all three services of each vserver are UP.
func (a *Appliance) Settled(most time.Duration, vservers ...string) error {
	return Eventually(most, func() error {
		for _, v := range vservers {
			out, err := a.Shell("show lb vserver " + v)
			if err != nil {
				return err
			}
			if !strings.Contains(out, "3 (Total)") || !strings.Contains(out, "3 (Active)") {
				return fmt.Errorf("vserver %s has not all services UP:\n%s", v, out)
			}
		}
		return nil
	})
}

// State waits until a service shows the state.
func (a *Appliance) State(service, state string, most time.Duration) error {
	return a.Shows("show service "+service, "State: "+state, most)
}

// Shows waits until the answer to a line holds the words.
func (a *Appliance) Shows(line, words string, most time.Duration) error {
	return Eventually(most, func() error {
		out, err := a.Shell(line)
		if err == nil && !strings.Contains(out, words) {
			err = fmt.Errorf("%s does not say %q:\n%s", line, words, out)
		}
		return err
	})
}

// Running is the running configuration without the lines that carry dates.
func (a *Appliance) Running() (string, error) {
	out, err := a.Shell("show ns runningConfig")
	var keep strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "#") {
			keep.WriteString(line)
		}
	}
	return keep.String(), err
}
