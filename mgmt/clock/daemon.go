package clock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// farewell is how long chronyd may take to end.
const farewell = 5 * time.Second

// account is whom chronyd becomes once it may set the clock; Debian's package makes it.
const account = "_chrony"

// daemon is chronyd with its files: its settings, which it reads at its start, and the servers, which it reads anew when told.
type daemon struct {
	opt  *Options
	cmd  *exec.Cmd
	end  chan error // one value when it has ended
	conf string     // that it was started with
}

func (d *daemon) path(name string) string { return filepath.Join(d.opt.Dir, name) }

func (d *daemon) running() bool { return d.cmd != nil }

// ended gives a value when chronyd ends.
func (d *daemon) ended() <-chan error { return d.end }

func (d *daemon) forget() { d.cmd, d.end = nil, nil }

// settings are those of chronyd. It serves nobody, and is spoken to by a socket of its folder only.
func (d *daemon) settings(keys bool) string {
	s := "sourcedir " + d.path("sources.d") + "\npidfile " + d.path("pid") + "\nbindcmdaddress " + d.path("socket") + "\ndriftfile " + d.path("drift") +
		"\nport 0\ncmdport 0\nmakestep 1 3\nlogchange 1\n"
	if d.opt.Adjust {
		s += "rtcsync\n"
	}
	if keys {
		s += "keyfile " + d.opt.Keys + "\n"
	}
	return s
}

// arguments are those of chronyd. Without -x it sets the clock of the machine.
func (d *daemon) arguments(as string) []string {
	args := []string{"-d", "-f", d.path("chrony.conf"), "-u", as}
	if !d.opt.Adjust {
		args = append(args, "-x")
	}
	return args
}

// follow has chronyd ask these servers: it is started if need be, or told of them.
func (d *daemon) follow(ctx context.Context, sources string, keys bool) error {
	conf := d.settings(keys)
	if d.running() && conf != d.conf {
		d.stop()
	}
	as, err := d.folder()
	if err != nil {
		return err
	}
	before, _ := os.ReadFile(d.path("sources.d/ntp.sources"))
	if err := write(d.path("sources.d/ntp.sources"), sources); err != nil {
		return err
	}
	if d.running() {
		if string(before) == sources {
			return nil
		}
		_, err := d.chronyc(ctx, "reload", "sources")
		return err
	}
	if keys {
		if _, err := os.Stat(d.opt.Keys); err != nil {
			return fmt.Errorf("a time server has a key, and the file of keys cannot be read: put %s into the configuration directory", filepath.Base(d.opt.Keys))
		}
	}
	if err := write(d.path("chrony.conf"), conf); err != nil {
		return err
	}
	d.conf = conf
	return d.start(as)
}

// folder makes the folders. That of the socket must be chronyd's own.
func (d *daemon) folder() (as string, err error) {
	uid, gid, as := os.Getuid(), os.Getgid(), "root"
	if u, err := user.Lookup(account); err == nil {
		uid, _ = strconv.Atoi(u.Uid)
		gid, _ = strconv.Atoi(u.Gid)
		as = account
	}
	if err := os.MkdirAll(d.path("sources.d"), 0o755); err != nil {
		return "", fmt.Errorf("the folder of chronyd cannot be made (ntp.dir of the settings): %w", err)
	}
	err = errors.Join(os.Chmod(d.path("sources.d"), 0o755), os.Chown(d.opt.Dir, uid, gid), os.Chmod(d.opt.Dir, 0o750))
	return as, err
}

// write replaces a file that chronyd reads as somebody else.
func write(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (d *daemon) start(as string) error {
	program, err := exec.LookPath("chronyd")
	if err != nil {
		return errors.New("chronyd is not installed")
	}
	d.endOther()
	cmd := exec.Command(program, d.arguments(as)...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("chronyd cannot be started: %w", err)
	}
	end := make(chan error, 1)
	go func() {
		last := d.tell(said)
		err := cmd.Wait()
		if err == nil || last != "" {
			err = fmt.Errorf("%s (%v)", last, cmd.ProcessState)
		}
		end <- err
	}()
	d.cmd, d.end = cmd, end
	return nil
}

// tell logs what chronyd says, and returns the last of it.
func (d *daemon) tell(said io.Reader) (last string) {
	for lines := bufio.NewScanner(said); lines.Scan(); {
		last = lines.Text()
		if at, text, cut := strings.Cut(last, " "); cut {
			if _, err := time.Parse(time.RFC3339, at); err == nil {
				last = text // the log has a time of its own
			}
		}
		d.opt.Log.Info("chronyd", "says", last)
	}
	_, _ = io.Copy(io.Discard, said) // after an endless line
	return last
}

// stop ends chronyd and waits for that.
func (d *daemon) stop() {
	if !d.running() {
		return
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.end:
	case <-time.After(farewell):
		_ = d.cmd.Process.Kill()
		<-d.end
	}
	d.forget()
}

// endOther ends the chronyd that a management that was killed has left behind.
func (d *daemon) endOther() {
	text, err := os.ReadFile(d.path("pid"))
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || !d.ours(pid) {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
	for deadline := time.Now().Add(farewell); d.ours(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// ours tells whether a process is a chronyd with our settings.
func (d *daemon) ours(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && pid > 1 && strings.Contains(string(line), "chronyd") && strings.Contains(string(line), d.path("chrony.conf"))
}
