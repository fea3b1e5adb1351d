// Package machine starts virtual machines under QEMU's emulation: a bounded process of our own, its serial console to wait at and
// type into, and its monitor. It knows nothing of what is in the machine.
package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// NIC is a network card of a machine.
type NIC struct {
	Model   string // as -device has it, e.g. virtio-net-pci
	MAC     string
	Tap     string // device in the machine's namespace; empty: QEMU's own user network, in which there is DHCP and nobody else
	Forward string // of a user network: HOSTPORT:GUESTPORT from loopback of the namespace, e.g. 2222:22
}

// Config is a machine that is to be started.
type Config struct {
	Dir                    string   // its files: serial.log, qemu.log, the monitor's socket, the flash of UEFI
	Prefix                 []string // command before QEMU, e.g. ip netns exec NAME
	CPU                    string   // max unless it says otherwise
	CPUs                   int      // 2 unless it says otherwise
	Memory                 int      // MiB; 1024 unless it says otherwise
	UEFI                   bool
	Disk                   string   // qcow2 file, written to; empty: none
	Volumes                []string // raw files, read only, as further disks: user-data
	NICs                   []NIC
	Kernel, Initrd, Append string        // of a direct start, without firmware or boot loader
	Once                   bool          // a machine that is to start again ends instead
	More                   []string      // further arguments
	Most                   time.Duration // after which the machine is killed whatever happens; an hour unless it says otherwise
}

// Machine is one that runs, or has ended.
type Machine struct {
	Console *Console
	Started time.Time
	cmd     *exec.Cmd
	dir     string
	bound   *time.Timer
	ended   chan struct{}
	err     error // of the process, once ended is closed
	once    sync.Once
}

const firmware = "/usr/share/OVMF/OVMF_CODE_4M.fd"
const variables = "/usr/share/OVMF/OVMF_VARS_4M.fd"

// args are the arguments of QEMU.
func (c *Config) args() ([]string, error) {
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	number := func(n, other int) string {
		if n == 0 {
			n = other
		}
		return strconv.Itoa(n)
	}
	a := []string{"-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", or(c.CPU, "max"), "-smp", number(c.CPUs, 2), "-m", number(c.Memory, 1024),
		"-nodefaults", "-no-user-config", "-display", "none", "-device", "virtio-rng-pci",
		"-chardev", "stdio,id=serial,signal=off,logfile=serial.log,logappend=on", "-serial", "chardev:serial",
		"-qmp", "unix:qmp.sock,server=on,wait=off"}
	if c.Once {
		a = append(a, "-no-reboot")
	}
	if c.UEFI {
		vars := filepath.Join(c.Dir, "efivars.fd")
		if _, err := os.Stat(vars); errors.Is(err, os.ErrNotExist) {
			b, err := os.ReadFile(variables)
			if err == nil {
				err = os.WriteFile(vars, b, 0o600)
			}
			if err != nil {
				return nil, fmt.Errorf("the firmware's variables: %w", err)
			}
		}
		a = append(a, "-drive", "if=pflash,format=raw,readonly=on,file="+firmware, "-drive", "if=pflash,format=raw,file=efivars.fd")
	}
	if c.Disk != "" {
		a = append(a, "-drive", "if=none,id=disk,format=qcow2,cache=writeback,file="+c.Disk, "-device", "virtio-blk-pci,drive=disk,bootindex=0")
	}
	for i, v := range c.Volumes {
		a = append(a, "-drive", fmt.Sprintf("if=none,id=volume%d,format=raw,readonly=on,file=%s", i, v), "-device", fmt.Sprintf("virtio-blk-pci,drive=volume%d", i))
	}
	if c.Kernel != "" {
		a = append(a, "-kernel", c.Kernel, "-initrd", c.Initrd, "-append", c.Append)
	}
	return append(a, append(c.nics(), c.More...)...), nil
}

func (c *Config) nics() (a []string) {
	for i, n := range c.NICs {
		net := fmt.Sprintf("tap,id=net%d,ifname=%s,script=no,downscript=no", i, n.Tap)
		if n.Tap == "" {
			net = fmt.Sprintf("user,id=net%d,restrict=on", i)
			if host, guest, ok := strings.Cut(n.Forward, ":"); ok {
				net += ",hostfwd=tcp:127.0.0.1:" + host + "-:" + guest
			}
		}
		a = append(a, "-netdev", net, "-device", fmt.Sprintf("%s,netdev=net%d,mac=%s,romfile=", n.Model, i, n.MAC))
	}
	return a
}

// Start starts a machine. It ends with Kill, by itself, after the time that it may take, or with this program.
func Start(c Config) (*Machine, error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, err
	}
	args, err := c.args()
	if err != nil {
		return nil, err
	}
	os.Remove(filepath.Join(c.Dir, "qmp.sock"))
	log, err := os.OpenFile(filepath.Join(c.Dir, "qemu.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	line := append(append([]string{}, c.Prefix...), append([]string{"qemu-system-x86_64"}, args...)...)
	m := &Machine{cmd: exec.Command(line[0], line[1:]...), dir: c.Dir, ended: make(chan struct{})}
	m.cmd.Dir, m.cmd.Stderr = c.Dir, log
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	in, err := m.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := spawn(m.cmd); err != nil {
		return nil, fmt.Errorf("QEMU cannot be started: %w", err)
	}
	m.Started = time.Now()
	m.Console = newConsole(out, in)
	most := c.Most
	if most == 0 {
		most = time.Hour
	}
	m.bound = time.AfterFunc(most, func() { m.Kill() })
	go func() {
		<-m.Console.closed // all that it has said is read before it is waited for
		m.err = m.cmd.Wait()
		m.bound.Stop()
		close(m.ended)
	}()
	return m, nil
}

// births are the commands that spawn's thread is to start.
var births = sync.OnceValue(func() chan func() {
	c := make(chan func())
	go func() {
		// Never unlocked, and the goroutine never ends: the kernel takes "the parent has died" to be the end of the thread
		// that has started a process, not of the program.
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

// spawn starts a command by the one thread that lives as long as the program.
func spawn(cmd *exec.Cmd) error {
	done := make(chan error)
	births() <- func() { done <- cmd.Start() }
	return <-done
}

// Kill is a power cut: the machine has no time for anything. It returns when the process has gone.
func (m *Machine) Kill() {
	m.once.Do(func() { m.cmd.Process.Kill() })
	<-m.ended
}

// Ended waits until the machine has ended by itself.
func (m *Machine) Ended(most time.Duration) error {
	select {
	case <-m.ended:
		return m.err
	case <-time.After(most):
		return fmt.Errorf("the machine still runs after %v; its console says at last:\n%s", most, m.Console.Tail())
	}
}

// Running tells whether the machine has not ended.
func (m *Machine) Running() bool {
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}
