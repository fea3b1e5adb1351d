// Program sluice-mgmt is the appliance's management: it loads the startup configuration, keeps the kernel's side of the
// ports and the dataplane to it, watches services, and lets operators in by SSH. It never carries a packet of a client.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"sluice/mgmt/sshd"
	"sluice/mgmt/telemetry"
	"sluice/mgmt/transfer"
	"sluice/vendor-config/password"
)

// farewell is how long a clean end may take.
const farewell = 5 * time.Second

// garbage is how much memory may be used up beyond what is in use before it is collected, in percent, unless GOGC says otherwise.
// Half as much as Go's own 100 saves a quarter of what management occupies and takes a twentieth more of its CPU time in a large configuration.
const garbage = 50

func main() {
	config := flag.String("config", "/config/mgmt.yaml", "`file` with the settings")
	hash := flag.Bool("hash-password", false, "read a password from standard input, print its hash for the settings, and end")
	version := flag.Bool("version", false, "print the version and end")
	flag.Parse()
	var err error
	switch {
	case *version:
		s := system("")
		fmt.Printf("Sluice %s: Build %s\n", s.Release, s.Build)
	case *hash:
		err = hashPassword()
	default:
		err = run(*config)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "sluice-mgmt: %v\n", err)
		os.Exit(1)
	}
}

// hashPassword reads one line and prints what belongs into the settings.
func hashPassword() error {
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if line == "" && err != nil {
		return fmt.Errorf("no password on standard input: %w", err)
	}
	h, err := password.Make(strings.TrimRight(line, "\r\n"))
	if err != nil {
		return err
	}
	fmt.Println(h)
	return nil
}

// run is the program from its settings to SIGTERM.
func run(config string) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s, err := readSettings(config)
	if err != nil {
		return err
	}
	syslog := telemetry.NewLog(slog.NewTextHandler(os.Stderr, nil), new(net.Dialer).DialContext)
	defer syslog.Close()
	log := slog.New(syslog.Handler())
	// Before anything is changed: who cannot be reached is not to set up the ports. Clients wait until Serve.
	listener, err := net.Listen("tcp", s.SSH.Listen)
	if err != nil {
		return fmt.Errorf("the SSH door cannot open at %s (ssh.listen): %w", s.SSH.Listen, err)
	}
	defer listener.Close()
	a, err := start(ctx, s, log, syslog)
	if err != nil {
		return err
	}
	defer a.close()
	accounts, err := a.accounts(s)
	if err != nil {
		return err
	}
	door, err := sshd.New(sshd.Options{
		Accounts: accounts,
		HostKey:  s.SSH.HostKey,
		Host:     a.hostName,
		Greeting: a.greeting(),
		Log:      log,
		Banner:   bannerOf(s.SSH.Banner),
		Backend:  a.backend,

		NewPassword: a.newPassword,
		Subsystems: map[string]sshd.Subsystem{
			"netconf": a.netconfDoor(func(l sshd.Login, command string) error { return accounts.MayDo(l.Person, command) }),
			"sftp":    transfer.Subsystem(a.transfers(s, config, accounts)),
		},
	})
	if err != nil {
		return err
	}
	a.guard, a.door = accounts, door
	served := make(chan error, 1)
	go func() { served <- door.Serve(listener) }()
	go reportLife(ctx, a.engine.Pass, log)
	go a.tellHealth(ctx, s.Health, listener.Addr().String())
	log.Info("management is up", "ssh", listener.Addr().String(), "release", release)
	select {
	case err = <-served:
	case <-ctx.Done():
		log.Info("management ends")
	}
	ending, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	return errors.Join(err, door.Close(ending))
}
