package topology

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Port is a port of an appliance: a kernel device and the twin that will stand beside it.
type Port struct{ Name, Device, Twin string }

// Appliance is one Sluice in the lab: two supervised programs and their files.
type Appliance struct {
	Lab   *Lab
	Node  string
	From  string // node from which the operator reaches the shell
	Addr  string // of the shell
	Ports []Port

	Workers int // that share the flows

	Management string // device of the management port; "": there is none
	Startup    string // startup configuration that is there at the first start; "": none
}

func (a *Appliance) path(name string) string { return a.Lab.Path(filepath.Join(a.Node, name)) }

// Password is the operator's in the lab.
const Password = "lab-only-secret"

// Start writes the settings and starts management and dataplane, each under a supervisor.
func (a *Appliance) Start() error {
	if err := os.MkdirAll(a.path("config"), 0o755); err != nil {
		return err
	}
	if err := a.settings(); err != nil {
		return err
	}
	if a.Startup != "" {
		if err := os.WriteFile(a.path("config/startup.xml"), []byte(a.Startup), 0o600); err != nil {
			return err
		}
	}
	if err := a.Supervise("mgmt"); err != nil {
		return err
	}
	return a.Supervise("dataplane")
}

// Supervise starts one of the appliance's programs (mgmt or dataplane) under a supervisor.
func (a *Appliance) Supervise(program string) error {
	child := a.Lab.Path(a.Node + "-" + program + ".child.pid")
	return a.Lab.Start(a.Node, a.Node+"-"+program, a.Lab.program("sluice-lab"), "supervise", child,
		a.Lab.program("sluice-"+program), "-config", a.path(program+".yaml"))
}

// Pid is the running mgmt or dataplane itself, not its supervisor.
func (a *Appliance) Pid(program string) (int, error) {
	return a.Lab.Pid(a.Node + "-" + program + ".child")
}

// Signal sends a signal to the running mgmt or dataplane itself. One that it kills is started again by its supervisor.
func (a *Appliance) Signal(program string, sig syscall.Signal) error {
	pid, err := a.Pid(program)
	if err == nil {
		err = syscall.Kill(pid, sig)
	}
	return err
}

func (l *Lab) program(name string) string { return filepath.Join(l.Bin, name) }

// Credentials makes the operator's key, which OpenSSH then uses, and returns its public line and the hash of Password.
func (a *Appliance) Credentials() (key, hash string, err error) {
	if err := os.MkdirAll(a.path(""), 0o755); err != nil {
		return "", "", err
	}
	file := a.path("operator")
	os.Remove(file)
	if err := run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file); err != nil {
		return "", "", err
	}
	public, err := os.ReadFile(file + ".pub")
	if err != nil {
		return "", "", err
	}
	cmd := exec.Command(a.Lab.program("sluice-mgmt"), "-hash-password")
	cmd.Stdin = strings.NewReader(Password + "\n")
	cmd.Stderr = os.Stderr
	hashed, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("sluice-mgmt -hash-password: %w", err)
	}
	return strings.TrimSpace(string(public)), strings.TrimSpace(string(hashed)), nil
}

func (a *Appliance) settings() error {
	_, hash, err := a.Credentials()
	if err != nil {
		return err
	}
	var ports strings.Builder
	for _, p := range a.Ports {
		fmt.Fprintf(&ports, "  - {name: %q, device: %s, twin: %s}\n", p.Name, p.Device, p.Twin)
	}
	socket := a.path("dataplane.sock")
	dataplane := fmt.Sprintf("socket: %s\n%s\nmemory: 64\nhuge: false\nfile-prefix: %s\nflows: 262144\nports:\n%s",
		socket, a.lcores(), a.Lab.NS(a.Node), ports.String())
	mgmt := fmt.Sprintf(`socket: %s
hostname: %s
config-dir: %s
resolv-conf: %s
ssh:
  listen: "0.0.0.0:22"
  host-key: %s
users:
  - name: nsroot
    password-hash: %q
    authorized-keys: %s
management: {device: %q}
metrics: {listen: "0.0.0.0:9100"}
ntp: {dir: %s, adjust: false}
ports:
%s`, socket, a.Node, a.path("config"), a.path("resolv.conf"), a.path("host_key"), hash, a.path("operator.pub"), a.Management, a.path("ntp"), ports.String())
	if err := os.WriteFile(a.path("dataplane.yaml"), []byte(dataplane), 0o644); err != nil {
		return err
	}
	return os.WriteFile(a.path("mgmt.yaml"), []byte(mgmt), 0o600)
}

// lcores is the setting of the workers' CPUs: several are spread over those that we may use.
func (a *Appliance) lcores() string {
	if a.Workers <= 1 {
		return "lcore: " + Lcore()
	}
	cpus := make([]string, a.Workers)
	for i := range cpus {
		cpus[i] = strconv.Itoa(i % runtime.NumCPU())
	}
	return "lcores: [" + strings.Join(cpus, ", ") + "]"
}

// Lcore is the CPU for a worker: the last one that we may use.
func Lcore() string {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "0"
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			f := strings.FieldsFunc(strings.TrimSpace(rest), func(r rune) bool { return r == ',' || r == '-' })
			if len(f) > 0 {
				return f[len(f)-1]
			}
		}
	}
	return "0"
}

// SSHArgs are the arguments of OpenSSH with which the operator logs in by key.
func (a *Appliance) SSHArgs() []string {
	return []string{"-i", a.path("operator"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
		"-o", "LogLevel=ERROR", "-o", "ConnectTimeout=5", "nsroot@" + a.Addr}
}

// OpenSSH is a program of OpenSSH with its options, at the machine of the operator, who logs in by key. What follows the address
// is what words say.
func (a *Appliance) OpenSSH(program []string, words ...string) *exec.Cmd {
	return a.Lab.Command(a.From, slices.Concat(program, a.SSHArgs(), words)...)
}

// Shell runs one command line of the shell over OpenSSH and returns what it prints on standard output.
func (a *Appliance) Shell(line string) (string, error) { return a.ssh(nil, line) }

// Script types a script into the shell over OpenSSH.
func (a *Appliance) Script(text string) (string, error) { return a.ssh([]byte(text)) }

func (a *Appliance) ssh(stdin []byte, line ...string) (string, error) {
	cmd := a.OpenSSH([]string{"timeout", "60", "ssh"}, line...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("ssh %s: %w: %s", strings.Join(line, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// Answers waits until the shell answers.
func (a *Appliance) Answers() error {
	err := Eventually(30*time.Second, func() error {
		_, err := a.Shell("show version")
		return err
	})
	if err != nil {
		return fmt.Errorf("the shell of %s does not answer: %w (see %s)", a.Node, err, a.Lab.Path(a.Node+"-mgmt.log"))
	}
	return nil
}

// Ready waits until the shell answers and the dataplane forwards.
func (a *Appliance) Ready() error {
	if err := a.Answers(); err != nil {
		return err
	}
	return Eventually(30*time.Second, func() error {
		out, err := a.Shell("show interface")
		if err == nil && strings.Count(out, "ENABLED, UP, UP") < len(a.Ports) {
			err = fmt.Errorf("ports are not up:\n%s", out)
		}
		return err
	})
}
