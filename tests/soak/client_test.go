package soak

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"sluice/tests/lab/topology"
)

// The client is this test binary once more, inside the client's namespace: see TestMain.

// failure is a request that had no good answer.
type failure struct {
	Began, Ended time.Time
	What         string
}

// report is what the client has seen, printed as JSON when it ends.
type report struct {
	Good     map[string]int // by kind of traffic
	By       map[string]int // "kind server" -> answers
	Failures []failure      // excused or not: the test knows when servers were down
	Wrong    []string       // never excused: an answer from a server that must not answer, or another answer than was asked for
}

type client struct {
	until time.Time
	sum   string // of the file to download, hex

	mu   sync.Mutex
	seen report
}

// runClient sends every kind of traffic until the time is over.
func runClient(spell time.Duration, sum string) error {
	if err := meet(); err != nil {
		return err
	}
	c := &client{until: time.Now().Add(spell), sum: sum, seen: report{Good: map[string]int{}, By: map[string]int{}}}
	var all sync.WaitGroup
	for _, k := range kinds {
		for i := range k.times {
			all.Go(func() { c.repeat(k, i) })
		}
	}
	all.Wait()
	return json.NewEncoder(os.Stdout).Encode(c.seen)
}

// meet has the appliance learn the MAC address behind each of our addresses: for one that is not known yet, it keeps no more
// than three packets.
func meet() error {
	from := []string{topology.ClientIP}
	for i := range hashClients {
		from = append(from, hashClient(i))
	}
	for _, ip := range from {
		if err := topology.Eventually(10*time.Second, func() error {
			_, err := get(net.ParseIP(ip), webVIP)
			return err
		}); err != nil {
			return fmt.Errorf("from %s: %w", ip, err)
		}
	}
	return nil
}

// kind is one kind of traffic.
type kind struct {
	name  string
	times int           // of it at once
	pause time.Duration // between two requests
	may   string        // servers that may answer
	one   func(c *client, k kind, i int) (server string, err error)
}

const everyServer = "s1 s2 s3"

var kinds = []kind{
	{"short", 2, 40 * time.Millisecond, everyServer, func(c *client, _ kind, _ int) (string, error) { return get(nil, webVIP) }},
	{"only", 1, 50 * time.Millisecond, "s3", func(c *client, _ kind, _ int) (string, error) { return get(nil, onlyVIP) }},
	{"pair", 1, 50 * time.Millisecond, "s1 s2", func(c *client, _ kind, _ int) (string, error) { return get(nil, pairVIP) }},
	{"churn", 1, 50 * time.Millisecond, "s1", func(c *client, _ kind, _ int) (string, error) { return get(nil, churnVIP) }},
	{"least", 1, 50 * time.Millisecond, everyServer, func(c *client, _ kind, _ int) (string, error) { return get(nil, leastVIP) }},
	{"hash", hashClients, 100 * time.Millisecond, everyServer, (*client).hashed},
	{"keep", 2, 10 * time.Millisecond, everyServer, (*client).kept},
	{"udp", 2, 40 * time.Millisecond, everyServer, func(c *client, _ kind, i int) (string, error) { return c.echo(udpVIP, i) }},
	{"packets", 1, 40 * time.Millisecond, everyServer, func(c *client, _ kind, i int) (string, error) { return c.echo(packetsVIP, i) }},
	{"talk", 1, 10 * time.Millisecond, everyServer, (*client).talk},
	{"file", 1, 200 * time.Millisecond, everyServer, (*client).file},
}

// repeat makes requests of one kind. An answer counts as wrong when its server may not answer.
func (c *client) repeat(k kind, i int) {
	for time.Now().Before(c.until) {
		began := time.Now()
		server, err := k.one(c, k, i)
		c.mu.Lock()
		switch {
		case err != nil:
			c.seen.Failures = append(c.seen.Failures, failure{began, time.Now(), k.name + ": " + err.Error()})
		case server != "" && !strings.Contains(k.may, server):
			c.seen.Wrong = append(c.seen.Wrong, fmt.Sprintf("%s was answered by %q, and only %s may", k.name, server, k.may))
		default:
			c.seen.Good[k.name]++
			c.seen.By[k.name+" "+server]++
		}
		c.mu.Unlock()
		time.Sleep(k.pause)
	}
}

func (c *client) wrong(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Wrong = append(c.seen.Wrong, fmt.Sprintf(format, args...))
}

const patience = 5 * time.Second // for an answer

// get makes one request on a connection of its own, from an address of ours if one is given.
func get(from net.IP, vip string) (string, error) {
	d := net.Dialer{Timeout: patience}
	if from != nil {
		d.LocalAddr = &net.TCPAddr{IP: from}
	}
	t := http.Transport{DisableKeepAlives: true, DialContext: d.DialContext}
	h := http.Client{Transport: &t, Timeout: patience}
	r, err := h.Get("http://" + vip + "/")
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", r.StatusCode)
	}
	return strings.TrimSpace(string(body)), err
}

// hashed asks from the i-th further address.
func (c *client) hashed(_ kind, i int) (string, error) {
	server, err := get(net.ParseIP(hashClient(i)), hashVIP)
	if err == nil {
		c.mu.Lock()
		c.seen.By["from "+hashClient(i)+" "+server]++
		c.mu.Unlock()
	}
	return server, err
}

// kept makes many requests on one connection: all of them are its server's.
func (c *client) kept(_ kind, _ int) (string, error) {
	conn, err := net.DialTimeout("tcp4", webVIP+":80", patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	in, first := bufio.NewReader(conn), ""
	for n := range 200 {
		if time.Now().After(c.until) {
			break
		}
		conn.SetDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: soak\r\n\r\n"); err != nil {
			return "", err
		}
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return "", fmt.Errorf("request %d of a connection to %s: %w", n+1, first, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return "", err
		}
		server := strings.TrimSpace(string(body))
		if first == "" {
			first = server
		} else if server != first {
			c.wrong("a connection of %s was answered by %s", first, server)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return first, nil
}

// echo asks one question over UDP from a port of its own.
func (c *client) echo(vip string, i int) (string, error) {
	conn, err := net.Dial("udp4", vip+":7")
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return c.question(conn, fmt.Sprintf("echo %d %d", i, time.Now().UnixNano()))
}

// talk asks many questions from one port: a flow stays with its server.
func (c *client) talk(_ kind, _ int) (string, error) {
	conn, err := net.Dial("udp4", udpVIP+":7")
	if err != nil {
		return "", err
	}
	defer conn.Close()
	first := ""
	for n := range 200 {
		if time.Now().After(c.until) {
			break
		}
		server, err := c.question(conn, fmt.Sprintf("talk %d", n))
		if err != nil {
			return "", err
		}
		if first == "" {
			first = server
		} else if server != first {
			c.wrong("a UDP flow of %s was answered by %s", first, server)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return first, nil
}

// question wants the echo of q: "SERVER PEER Q".
func (c *client) question(conn net.Conn, q string) (string, error) {
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, q); err != nil {
		return "", err
	}
	buf := make([]byte, 2048)
	n, err := conn.Read(buf)
	if err != nil {
		return "", err
	}
	f := strings.SplitN(string(buf[:n]), " ", 3)
	if len(f) != 3 || f[2] != q {
		c.wrong("the echo of %q is %q", q, buf[:n])
		return "", errors.New("wrong echo")
	}
	return f[0], nil
}

// file downloads some megabytes, which must arrive whole.
func (c *client) file(_ kind, _ int) (string, error) {
	h := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	r, err := h.Get("http://" + pairVIP + "/soak")
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r.Body); err != nil {
		return "", err
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != c.sum {
		c.wrong("a file arrived as another one: SHA-256 %s, not %s", got, c.sum)
	}
	return "", nil
}
