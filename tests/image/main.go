// Program image boots what `make image` has built, in a virtual machine between a client and web servers in network namespaces,
// with its console on the terminal. The tests beside it boot it in the same way. It contains nothing of the product.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"sluice/tests/lab/topology"
)

func main() {
	if err := qemu(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// qemu boots the image and takes everything down again when the machine, or the user, has ended it.
func qemu() (err error) {
	l, err := topology.New(topology.Guest, "bin")
	if err != nil {
		return err
	}
	if err := l.Up(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Down()) }()
	g, err := newGuest(l, "image/out", 0, "virtio-net-pci")
	if err != nil {
		return err
	}
	g.spec.UEFI = os.Getenv("UEFI") != ""
	if os.Getenv("BARE") == "" { // without it the console's wizard asks
		if err := g.seed(g.userData(topology.BasicScript())); err != nil {
			return err
		}
	}
	if err := g.start(); err != nil {
		return err
	}
	defer g.stop()
	fmt.Printf(`The image starts under emulation, with its serial console here: log in as nsroot, password %[1]s. Ctrl-] ends it.
From another terminal, as root, once it is up:
  the shell     ip netns exec %[2]s ssh %[3]s
  the client    ip netns exec %[4]s curl http://%[5]s/
`, topology.Password, l.NS(g.From), strings.Join(g.SSHArgs(), " "), l.NS("client"), topology.VIP)
	return terminal(g)
}

// leave is the key that ends the machine, Ctrl-], as in telnet.
const leave = 0x1d

// terminal joins the console to the terminal until the machine ends or the user leaves.
func terminal(g *guest) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		old, err := term.MakeRaw(fd)
		if err != nil {
			return fmt.Errorf("the terminal: %w", err)
		}
		defer term.Restore(fd, old)
	}
	left, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(left)
		buf := make([]byte, 256)
		for {
			n, err := os.Stdin.Read(buf)
			if i := strings.IndexByte(string(buf[:n]), leave); i >= 0 {
				return
			}
			if n > 0 && g.vm.Console.Type(string(buf[:n])) != nil || err != nil && err != io.EOF {
				return
			}
			if err == io.EOF { // no terminal: it runs until it is told to stop
				select {}
			}
		}
	}()
	go func() { ended <- g.vm.Console.Copy(os.Stdout) }()
	select {
	case <-left:
	case <-stop:
	case err := <-ended:
		return err
	}
	return nil
}
