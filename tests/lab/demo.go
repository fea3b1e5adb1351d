package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sort"
	"strings"
	"syscall"
	"time"

	"sluice/tests/lab/topology"
)

// demo is the README's first command: a lab, a VIP typed into the shell, real traffic, and who served what.
func demo() error {
	return with("basic", func(l *topology.Lab) (err error) {
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-stop
			l.Down()
			os.Exit(1)
		}()
		fmt.Println("A client, an appliance with two ports and three nginx servers are being started in network namespaces.")
		if err := l.Up(); err != nil {
			return err
		}
		if os.Getenv("KEEP") == "" {
			defer func() { err = errors.Join(err, l.Down()) }()
		}
		if err := show(l); err != nil {
			return err
		}
		if os.Getenv("KEEP") != "" {
			fmt.Printf("\nIt is left running (KEEP=1):\n%s", hints(l, "basic"))
		} else {
			fmt.Printf("\nAll of it is taken down again. KEEP=1 make demo leaves it running, and then you log in with:\n%s", hints(l, "basic"))
		}
		return nil
	})
}

func show(l *topology.Lab) error {
	a := l.Basic()
	fmt.Printf("\nThe operator types over SSH (ssh nsroot@%s):\n\n%s\n", a.Addr, indent(topology.BasicScript()))
	if _, err := a.Script(topology.BasicScript()); err != nil {
		return err
	}
	if err := a.Settled(20*time.Second, "web"); err != nil {
		return err
	}
	served := map[string]int{}
	for range 30 {
		out, err := l.Command("client", "curl", "-sS", "-m", "5", "http://"+topology.VIP+"/").Output()
		if err != nil {
			return fmt.Errorf("curl http://%s/: %w", topology.VIP, err)
		}
		served[strings.TrimSpace(string(out))]++
	}
	fmt.Printf("30 times `curl http://%s/` from the client %s were served by:\n", topology.VIP, topology.ClientIP)
	for _, s := range sorted(served) {
		fmt.Printf("    %s  %d\n", s, served[s])
	}
	b, err := os.ReadFile(l.Path("s1/access.log"))
	if err != nil {
		return err
	}
	seen := "nobody"
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 0 {
			seen = f[0]
		}
	}
	fmt.Printf("nginx on s1 saw the address %s: the appliance's SNIP.\n", seen)
	for _, line := range []string{"show lb vserver web", "stat lb vserver web", "stat ns"} {
		out, err := a.Shell(line)
		if err != nil {
			return err
		}
		fmt.Printf("\n> %s\n%s", line, out)
	}
	return nil
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ") + "\n"
}

func sorted(m map[string]int) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
