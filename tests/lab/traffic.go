package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// udpEcho answers each datagram with "NAME PEER DATA", so that the client learns who served it and whom the server saw.
func udpEcho(addr, name string) error {
	conn, err := net.ListenPacket("udp4", addr)
	if err != nil {
		return fmt.Errorf("udp-echo: %w", err)
	}
	buf := make([]byte, 2048)
	for {
		n, peer, err := conn.ReadFrom(buf)
		if err != nil {
			return fmt.Errorf("udp-echo: %w", err)
		}
		if _, err := conn.WriteTo([]byte(name+" "+peer.String()+" "+string(buf[:n])), peer); err != nil {
			fmt.Fprintln(os.Stderr, "udp-echo:", err)
		}
	}
}

// lateAnswer sends a file to each client after that has said all it has to say and closed its side.
func lateAnswer(addr, file string) error {
	return serveTCP(net.ListenConfig{}, addr, func(conn net.Conn) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err = io.Copy(io.Discard, conn); err == nil {
			_, err = io.Copy(conn, f)
		}
		return err
	})
}

// udpAsk sends n datagrams, each from a socket of its own, and counts who answered; it prints JSON as load does.
func udpAsk(addr string, n int) error {
	res := loadResult{By: map[string]int{}, Errors: map[string]int{}}
	for i := range n {
		answer, err := ask(addr, fmt.Sprintf("question %d", i))
		if err != nil {
			res.Failed++
			res.Errors[err.Error()]++
			continue
		}
		res.OK++
		res.By[answer]++
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// ask returns "NAME ADDRESS" of an echo that gave the question back.
func ask(addr, question string) (string, error) {
	conn, err := net.Dial("udp4", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(3 * time.Second))
	if _, err := conn.Write([]byte(question)); err != nil {
		return "", err
	}
	buf := make([]byte, 2048)
	k, err := conn.Read(buf)
	if err != nil {
		return "", errors.New("no answer")
	}
	f := strings.SplitN(string(buf[:k]), " ", 3)
	if len(f) != 3 || f[2] != question {
		return "", fmt.Errorf("another answer than the question: %q", buf[:k])
	}
	host, _, err := net.SplitHostPort(f[1])
	return f[0] + " " + host, err
}

// loadResult is what `lab load` prints as JSON.
type loadResult struct {
	OK, Failed int
	By         map[string]int // served body -> count
	Errors     map[string]int // sentence -> count
	Longest    float64        // seconds, of a successful request
}

// load sends requests, each on a connection of its own, and counts who answered.
func load(args []string) error {
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	n := f.Int("n", 300, "number of requests")
	rate := f.Float64("rate", 0, "requests a second; 0 is one after the other")
	timeout := f.Duration("timeout", 5*time.Second, "after which a request has failed")
	if err := f.Parse(args); err != nil || f.NArg() != 1 {
		return fmt.Errorf("usage: lab load [-n N] [-rate R] [-timeout T] URL")
	}
	res := loadResult{By: map[string]int{}, Errors: map[string]int{}}
	var mu sync.Mutex
	one := func() {
		start := time.Now()
		body, err := fetch(f.Arg(0), *timeout)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			res.Failed++
			res.Errors[err.Error()]++
			return
		}
		res.OK++
		res.By[body]++
		res.Longest = max(res.Longest, time.Since(start).Seconds())
	}
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range *n {
		if *rate == 0 {
			one()
			continue
		}
		time.Sleep(time.Until(begin.Add(time.Duration(float64(i) / *rate * float64(time.Second)))))
		wg.Go(one)
	}
	wg.Wait()
	return json.NewEncoder(os.Stdout).Encode(res)
}

func fetch(url string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	t := &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: timeout}).DialContext}
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return "", err
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %d", resp.StatusCode)
	}
	return strings.TrimSpace(string(body)), nil
}
