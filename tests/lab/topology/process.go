package topology

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Start runs a program inside a node, in a process group of its own, with its output in NAME.log and its pid in NAME.pid.
func (l *Lab) Start(node, name string, args ...string) error {
	log, err := os.OpenFile(l.Path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close()
	cmd := l.Command(node, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = l.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	go cmd.Wait() // reap it, if it ends while we still run
	return os.WriteFile(l.Path(name+".pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644)
}

// Pid is the process that NAME.pid names.
func (l *Lab) Pid(name string) (int, error) {
	b, err := os.ReadFile(l.Path(name + ".pid"))
	if err != nil {
		return 0, fmt.Errorf("%s is not running in lab %s: %w", name, l.Name, err)
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

// Stop ends a program and its group: TERM, then KILL after 3 seconds.
func (l *Lab) Stop(name string) error {
	pid, err := l.Pid(name)
	if err != nil {
		return err
	}
	defer os.Remove(l.Path(name + ".pid"))
	if !l.ours(pid) {
		return nil // the pid has gone, and may belong to another program by now
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(-pid, sig); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		for range 60 {
			if syscall.Kill(-pid, 0) != nil {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return fmt.Errorf("%s (pid %d) does not end", name, pid)
}

// ours tells whether pid was started in this lab's folder.
func (l *Lab) ours(pid int) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && strings.Contains(cwd, l.Dir) // not at its beginning if we live in a changed root
}

// stopAll ends every program of the lab, then whatever still lives in its namespaces.
func (l *Lab) stopAll() error {
	var errs []error
	pids, _ := filepath.Glob(l.Path("*.pid"))
	for _, p := range pids {
		name := strings.TrimSuffix(filepath.Base(p), ".pid")
		if strings.HasSuffix(name, ".child") {
			continue // ends with its supervisor
		}
		errs = append(errs, l.Stop(name))
	}
	for _, ns := range l.namespaces() {
		out, _ := exec.Command("ip", "netns", "pids", ns).Output()
		for _, f := range strings.Fields(string(out)) {
			if pid, err := strconv.Atoi(f); err == nil && pid != os.Getpid() {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	return errors.Join(errs...)
}

// Supervise keeps a program running: whenever it ends it is started again after 100 ms. It returns when stop is closed,
// after it has ended the program. The pid of the running program is in pidFile.
func Supervise(args []string, pidFile string, stop <-chan os.Signal) error {
	for {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("supervise %s: %w", args[0], err)
		}
		if err := os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			fmt.Fprintf(os.Stderr, "supervisor: %s ended (%v); starting it again\n", args[0], err)
			time.Sleep(100 * time.Millisecond)
		case <-stop:
			cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-ended:
			case <-time.After(2 * time.Second):
				cmd.Process.Kill()
				<-ended
			}
			return os.Remove(pidFile)
		}
	}
}
