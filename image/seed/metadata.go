package seed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sluice/image/firstboot"
)

// Service is where EC2's metadata service answers.
const Service = "http://169.254.169.254"

const (
	tries    = 4
	oneTry   = 2 * time.Second
	tokenTTL = "300" // seconds; it is used at once
)

// errNone is the answer for what an instance does not have.
var errNone = errors.New("there is none")

// client asks the service by one device and nothing else: neither by a proxy, nor wherever it is sent on to.
type client struct {
	http  http.Client
	base  string
	token string
}

// Metadata asks the metadata service of EC2, version 2: a token first, which who can only make the machine fetch pages does not get. A
// service that has no tokens is not asked further.
func Metadata(ctx context.Context, base, device string) (m firstboot.EC2, err error) {
	dial := &net.Dialer{Timeout: oneTry, Control: func(_, _ string, c syscall.RawConn) (err error) {
		e := c.Control(func(fd uintptr) { err = unix.BindToDevice(int(fd), device) })
		return errors.Join(e, err)
	}}
	c := &client{base: base, http: http.Client{Timeout: oneTry, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: dial.DialContext, MaxResponseHeaderBytes: 16 << 10, DisableKeepAlives: true}}}
	token, err := c.do(ctx, http.MethodPut, "/latest/api/token")
	if err != nil {
		return m, fmt.Errorf("the metadata service gives no token: %w", err)
	}
	c.token = strings.TrimSpace(string(token))
	get := func(path string) string {
		text, e := c.do(ctx, http.MethodGet, "/latest/meta-data/"+path)
		if e != nil && !errors.Is(e, errNone) {
			err = errors.Join(err, e)
		}
		return strings.TrimSpace(string(text))
	}
	m.InstanceID = get("instance-id")
	m.Hostname, _, _ = strings.Cut(get("local-hostname"), " ") // of several names the first
	for n, line := range strings.Split(get("public-keys/"), "\n") {
		if number, _, ok := strings.Cut(line, "="); ok && n < 16 && strings.Trim(number, "0123456789") == "" {
			if key := get("public-keys/" + number + "/openssh-key"); key != "" {
				m.PublicKeys = append(m.PublicKeys, key)
			}
		}
	}
	var e error
	if m.UserData, e = c.do(ctx, http.MethodGet, "/latest/user-data"); e != nil && !errors.Is(e, errNone) {
		err = errors.Join(err, e)
	}
	return m, err
}

// do asks a few times, with a pause that doubles.
func (c *client) do(ctx context.Context, method, path string) (text []byte, err error) {
	for n := range tries {
		if n > 0 {
			select {
			case <-time.After(250 * time.Millisecond << n):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		var again bool
		if text, again, err = c.once(ctx, method, path); err == nil || !again {
			break
		}
	}
	return text, err
}

func (c *client) once(ctx context.Context, method, path string) (text []byte, again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return nil, false, err
	}
	if method == http.MethodPut {
		r.Header.Set("X-aws-ec2-metadata-token-ttl-seconds", tokenTTL)
	} else {
		r.Header.Set("X-aws-ec2-metadata-token", c.token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, true, err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return nil, false, fmt.Errorf("%s: %w", path, errNone)
	case answer.StatusCode >= 500, answer.StatusCode == http.StatusTooManyRequests:
		return nil, true, fmt.Errorf("%s: the service answers with %d", path, answer.StatusCode)
	case answer.StatusCode != http.StatusOK:
		return nil, false, fmt.Errorf("%s: the service answers with %d", path, answer.StatusCode)
	}
	text, err = io.ReadAll(io.LimitReader(answer.Body, firstboot.Largest+1))
	return text, err != nil, err
}
