package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

const (
	scriptsMax    = 64        // that run at once: each is a process
	scriptTextMax = 200       // bytes of what a script says that are told to the operator
	scriptSaysMax = 64 << 10  // bytes that a script may write before it has failed
	scriptMemory  = 512 << 20 // bytes of address space
	scriptNobody  = 65534     // the user and group as which scripts run when management is root
)

// ownDispatcher is the dispatcher that is part of management: a monitor that names it has its script run here.
var ownDispatcher = netip.MustParseAddrPort("127.0.0.1:3013")

// Scripts runs the scripts of monitors of type USER. They are files of one folder. Each is called with the server's address,
// its port, the response timeout in seconds and scriptArgs; it runs as nobody, in a process group of its own, with a bounded
// memory, and is killed with its process group at the timeout; a child that makes a session of its own (setsid) escapes that. An exit
// code of 0 is success; the first line that it writes is what the operator is told.
type Scripts struct {
	Folder string
	slots  chan struct{}
}

// NewScripts takes scripts from the folder.
func NewScripts(folder string) *Scripts {
	return &Scripts{Folder: folder, slots: make(chan struct{}, scriptsMax)}
}

// Check is a monitor of type USER: the script must succeed, or the dispatcher elsewhere must say that it does.
func (s *Scripts) Check(ctx context.Context, p *compile.Probe) Outcome {
	if p.Ask.Dispatcher.IsValid() && p.Ask.Dispatcher != ownDispatcher {
		return dispatched(ctx, p)
	}
	path, err := s.find(p.Ask.Script)
	if err != nil {
		return unsent("%v", err)
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return unsent("script %s did not run: %d scripts run already; give their monitors a longer interval", p.Ask.Script, scriptsMax)
	}
	return runScript(ctx, p, path)
}

// find is the path of a script that may be run: a file of the folder that nobody but its owner can change.
func (s *Scripts) find(name string) (string, error) {
	if s.Folder == "" {
		return "", errors.New("there is no folder of scripts")
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return "", fmt.Errorf("there is no folder of scripts: make %s and put %s into it", s.Folder, name)
	}
	defer root.Close()
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("script %s is not in %s", name, s.Folder)
	case err != nil:
		return "", fmt.Errorf("script %s cannot be read: %w", name, cause(err))
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("script %s is no plain file of %s", name, s.Folder)
	case info.Mode().Perm()&0o022 != 0:
		return "", fmt.Errorf("script %s can be changed by everybody: chmod go-w it", name)
	case info.Mode().Perm()&0o005 != 0o005:
		return "", fmt.Errorf("script %s cannot be read and run by nobody, as which it runs: chmod o+rx it", name)
	}
	return filepath.Join(s.Folder, name), nil
}

// said keeps the beginning of what a script writes and ends it when that is too much.
type said struct {
	text  bytes.Buffer
	total int
}

var errTalkative = fmt.Errorf("it wrote more than %d bytes", scriptSaysMax)

func (s *said) Write(b []byte) (int, error) {
	if s.total += len(b); s.total > scriptSaysMax {
		return 0, errTalkative
	}
	s.text.Write(b[:min(len(b), 4*scriptTextMax-min(s.text.Len(), 4*scriptTextMax))])
	return len(b), nil
}

// sentence is the first line of it as a sentence, or otherwise.
func (s *said) sentence(otherwise string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(s.text.String()), "\n")
	first = strings.TrimRight(printable(strings.TrimSpace(first[:min(len(first), scriptTextMax)])), ".")
	if first == "" {
		return otherwise
	}
	return first
}

// seconds is the response timeout that a script is told, rounded up.
func seconds(p *compile.Probe) int {
	return int((orDefault(p.RespTimeout, defaultRespTimeout) + time.Second - 1) / time.Second)
}

func runScript(ctx context.Context, p *compile.Probe, path string) Outcome {
	out := &said{}
	cmd := exec.CommandContext(ctx, path, p.Target.Addr().Unmap().String(), strconv.Itoa(int(p.Target.Port())), strconv.Itoa(seconds(p)), p.Ask.ScriptArgs)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: scriptNobody, Gid: scriptNobody, Groups: []uint32{}}
	}
	group := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = group
	cmd.WaitDelay = 200 * time.Millisecond // for what it left behind holding its output
	if err := cmd.Start(); err != nil {
		return unsent("script %s does not run: %v", p.Ask.Script, cause(err))
	}
	for resource, most := range map[int]uint64{unix.RLIMIT_CPU: uint64(seconds(p)) + 1, unix.RLIMIT_FSIZE: 1 << 20, unix.RLIMIT_AS: scriptMemory} {
		unix.Prlimit(cmd.Process.Pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
	err := cmd.Wait()
	group() // children that outlive it
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return failuref("script %s did not end in time and was killed", p.Ask.Script)
	case out.total > scriptSaysMax:
		return failuref("script %s was killed: %v", p.Ask.Script, errTalkative)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return success("%s", out.sentence("Script "+p.Ask.Script+" succeeded"))
	case errors.As(err, &exit) && exit.Exited():
		return failuref("%s", out.sentence("script "+p.Ask.Script+" ended with code "+strconv.Itoa(exit.ExitCode())))
	case errors.As(err, &exit):
		return failuref("script %s was ended by the signal %q", p.Ask.Script, exit.Sys().(syscall.WaitStatus).Signal().String())
	}
	return failuref("script %s: %v", p.Ask.Script, cause(err))
}

// dispatched has a dispatcher elsewhere, a web server, run the script: GET /SCRIPT?ip=..&port=..&timeout=..&args=.. The status
// 200 is success, and the first line of the body is what the operator is told.
func dispatched(ctx context.Context, p *compile.Probe) Outcome {
	q := *p
	q.Target, q.Source = p.Ask.Dispatcher, netip.Addr{}
	args := url.Values{"ip": {p.Target.Addr().Unmap().String()}, "port": {strconv.Itoa(int(p.Target.Port()))},
		"timeout": {strconv.Itoa(seconds(p))}, "args": {p.Ask.ScriptArgs}}
	h, s, o := exchange(ctx, &q, "GET /"+p.Ask.Script+"?"+args.Encode())
	if s == nil {
		o.Response = strings.Replace(o.Response, "Failure - ", "Failure - dispatcher "+p.Ask.Dispatcher.String()+": ", 1)
		return o
	}
	defer s.Close()
	out := &said{}
	line := make([]byte, scriptTextMax)
	if !h.chunked && h.length != 0 {
		n, _ := s.in.Read(line)
		out.Write(line[:n])
	}
	if h.code != 200 {
		return failuref("%s", out.sentence(fmt.Sprintf("dispatcher %s says HTTP response code %d", p.Ask.Dispatcher, h.code)))
	}
	return success("%s", out.sentence("Script "+p.Ask.Script+" succeeded"))
}
