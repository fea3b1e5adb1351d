package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sluice/vendor-config/schema"
)

// Bounds of a download.
const (
	dialPatience  = 10 * time.Second
	replyPatience = 30 * time.Second
	stallPatience = time.Minute // without a byte
	redirectsMost = 3
)

// bundleSource is where a bundle is read from.
type bundleSource struct {
	io.ReadCloser
	length int64 // -1: nobody knows
}

// discreet is a URL without what may be a secret.
func discreet(from string) string {
	u, err := url.Parse(from)
	if err != nil || u.Scheme == "" {
		return from
	}
	u.User, u.Fragment = nil, ""
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return u.String()
}

// openBundle opens a file of the folder for bundles, or a URL.
func (o *operator) openBundle(ctx context.Context, from string) (*bundleSource, error) {
	scheme, _, is := strings.Cut(from, "://")
	switch {
	case !is:
		return o.images.file(ctx, from)
	case scheme == "http" || scheme == "https":
		return o.download(ctx, from)
	}
	return nil, schema.Refuse(schema.BadValue, "source", discreet(from)).Because("it is a file below /images, or http://... or https://...")
}

// file opens a file below the folder, out of which nothing leads.
func (i *images) file(ctx context.Context, name string) (*bundleSource, error) {
	rel := path.Clean(i.fileBelow(name))
	if !fs.ValidPath(rel) || rel == "." {
		return nil, schema.Refuse(schema.BadValue, "source", name).Because("bundles lie below /images, where SFTP leaves them")
	}
	root, err := os.OpenRoot(i.dir)
	if err != nil {
		return nil, errImages
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe must not keep us waiting
	if errors.Is(err, fs.ErrNotExist) {
		return nil, schema.Refuse(schema.NoSuchRow, "source", name).Because("there is no such file below /images; leave it there by SFTP")
	}
	if err != nil {
		return nil, schema.Refuse(schema.NotPermitted, name).Because("it leads out of /images, or cannot be read")
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, schema.Refuse(schema.NotPermitted, name).Because("it is no file")
	}
	return &bundleSource{attended{f, ctx, func() {}}, info.Size()}, nil
}

// attended ends with its context, and says of each read that something has come.
type attended struct {
	io.ReadCloser
	ctx  context.Context
	came func()
}

func (a attended) Read(b []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, context.Cause(a.ctx)
	}
	n, err := a.ReadCloser.Read(b)
	if n > 0 {
		a.came()
	}
	if err != nil && err != io.EOF && a.ctx.Err() != nil {
		err = context.Cause(a.ctx)
	}
	return n, err
}

var (
	errStalled = fmt.Errorf("nothing has come for %v", stallPatience)
	errEnded   = errors.New("it was ended")
)

// download begins to fetch a URL. Names are found as all of the appliance's.
func (o *operator) download(ctx context.Context, from string) (*bundleSource, error) {
	u, err := url.Parse(from)
	if err != nil || u.Hostname() == "" {
		return nil, schema.Refuse(schema.BadValue, "source", discreet(from)).Because("it is no URL")
	}
	if u.User != nil {
		return nil, schema.Refuse(schema.BadValue, "source", discreet(from)).Because("a URL with a password would stand in the log: leave the file by SFTP, or offer it without one")
	}
	ctx, end := context.WithCancelCause(ctx)
	stall := time.AfterFunc(stallPatience, func() { end(errStalled) })
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", "identity")
	reply, err := o.client().Do(request)
	if err == nil && reply.StatusCode != http.StatusOK {
		reply.Body.Close()
		err = fmt.Errorf("the server answers %.100q", reply.Status)
	}
	if err != nil {
		stall.Stop()
		end(nil)
		var outer *url.Error // it names the URL, which may hold a secret
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return nil, schema.Refuse(schema.BadArgument, "source", discreet(from)).Because(err.Error())
	}
	body := attended{reply.Body, ctx, func() { stall.Reset(stallPatience) }}
	return &bundleSource{closing{body, func() { stall.Stop(); end(errEnded) }}, reply.ContentLength}, nil
}

// closing does something more when it is closed.
type closing struct {
	io.ReadCloser
	after func()
}

func (c closing) Close() error {
	defer c.after()
	return c.ReadCloser.Close()
}

func (o *operator) client() *http.Client {
	dialer := &net.Dialer{Timeout: dialPatience}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				host, port, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				if _, err := netip.ParseAddr(host); err == nil || o.resolver == nil {
					return dialer.DialContext(ctx, network, address)
				}
				all, err := o.resolver.Lookup(ctx, host)
				if err != nil {
					return nil, err
				}
				for _, ip := range all {
					var c net.Conn
					if c, err = dialer.DialContext(ctx, network, net.JoinHostPort(ip.String(), port)); err == nil {
						return c, nil
					}
				}
				if err == nil {
					err = fmt.Errorf("the name %s has no address", host)
				}
				return nil, err
			},
			TLSHandshakeTimeout: replyPatience, ResponseHeaderTimeout: replyPatience, DisableKeepAlives: true, DisableCompression: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > redirectsMost || via[0].URL.Scheme == "https" && r.URL.Scheme != "https" || r.URL.User != nil {
				return errors.New("it leads elsewhere: give the URL of the file itself")
			}
			return nil
		},
	}
}
