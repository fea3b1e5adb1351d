package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tcpEcho gives back what it is sent.
func tcpEcho(addr string) error {
	return serveTCP(net.ListenConfig{}, addr, func(conn net.Conn) error {
		_, err := io.Copy(conn, conn)
		return err
	})
}

// transparent ends connections to whatever address the kernel takes for local, and passes on what is said by a connection of its
// own to that address.
func transparent(addr string) error {
	anyAddress := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		return errors.Join(c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_IP, unix.IP_TRANSPARENT, 1) }), err)
	}}
	return serveTCP(anyAddress, addr, func(conn net.Conn) error {
		origin, err := net.DialTimeout("tcp4", conn.LocalAddr().String(), 5*time.Second)
		if err != nil {
			return err
		}
		go func() {
			io.Copy(conn, origin)
			conn.Close()
			origin.Close()
		}()
		_, err = io.Copy(origin, conn)
		origin.(*net.TCPConn).CloseWrite()
		return err
	})
}

func serveTCP(c net.ListenConfig, addr string, serve func(net.Conn) error) error {
	l, err := c.Listen(context.Background(), "tcp4", addr)
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			if err := serve(conn); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			conn.Close()
		}()
	}
}

// talk holds connections for a while, each of which says something ten times a second and waits for the echo. It prints JSON as
// load does; what Longest tells is how long an echo took at most.
func talk(args []string) error {
	f := flag.NewFlagSet("talk", flag.ContinueOnError)
	n := f.Int("n", 64, "number of connections")
	file := f.String("until", "", "file at whose appearance they end; after a minute they do in any case")
	from := f.String("from", "", "addresses that they come from in turn, by commas")
	if err := f.Parse(args); err != nil || f.NArg() == 0 {
		return fmt.Errorf("usage: lab talk [-n N] [-until FILE] [-from ADDRESS,...] ADDRESS:PORT...")
	}
	sources := strings.Split(*from, ",")
	res := loadResult{By: map[string]int{}, Errors: map[string]int{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	end := time.Now().Add(time.Minute)
	over := func() bool { _, err := os.Stat(*file); return err == nil || time.Now().After(end) }
	for i := range *n {
		wg.Go(func() {
			source := sources[i%len(sources)]
			longest, err := conversation(source, f.Arg(i/len(sources)%f.NArg()), over)
			mu.Lock()
			defer mu.Unlock()
			if res.Longest = max(res.Longest, longest.Seconds()); err != nil {
				res.Failed++
				res.Errors[err.Error()]++
				return
			}
			res.OK++
		})
		time.Sleep(5 * time.Millisecond) // so that they do not speak all at once
	}
	wg.Wait()
	return json.NewEncoder(os.Stdout).Encode(res)
}

func conversation(source, addr string, over func() bool) (longest time.Duration, err error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	if source != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	conn, err := d.Dial("tcp4", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	for k := 0; !over(); k++ {
		line, start := fmt.Sprintf("%s says %d\n", conn.LocalAddr(), k), time.Now()
		conn.SetDeadline(start.Add(20 * time.Second))
		if _, err := io.WriteString(conn, line); err != nil {
			return longest, err
		}
		got, err := r.ReadString('\n')
		if err != nil {
			return longest, err
		}
		if got != line {
			return longest, fmt.Errorf("said %q and heard %q", line, got)
		}
		longest = max(longest, time.Since(start))
		time.Sleep(100 * time.Millisecond)
	}
	return longest, nil
}
