package seed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/tests/apart"
)

const serveAs = "SLUICE_TEST_SERVE"

// serving is the test program as a metadata service of the kind that the environment names, at the other end of the cable.
func serving() bool {
	kind := os.Getenv(serveAs)
	if kind == "" {
		return false
	}
	l, err := net.Listen("tcp", "169.254.169.254:80")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	err = http.Serve(l, service(kind))
	fmt.Println(err)
	os.Exit(1)
	return true
}

// service answers as EC2's does, or as bad ones may.
func service(kind string) http.Handler {
	var asked atomic.Int32
	pages := map[string]string{"meta-data/instance-id": "i-0abc", "meta-data/local-hostname": "ip-10-0-0-5.ec2.internal other", "meta-data/public-keys/": "0=mine\nx=bad\n1=other",
		"meta-data/public-keys/0/openssh-key": "ssh-ed25519 AAAA me", "meta-data/public-keys/1/openssh-key": "ssh-ed25519 BBBB you", "user-data": "#sluice\nadd server a 10.0.0.1\n"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/latest/")
		switch {
		case kind == "mute":
			<-r.Context().Done()
		case kind == "busy" && asked.Add(1) < 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case kind == "elsewhere":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		case kind == "first version" && r.Method == http.MethodPut:
			w.WriteHeader(http.StatusNotFound)
		case path == "api/token":
			if r.Method != http.MethodPut || r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") == "" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			fmt.Fprint(w, "TOKEN")
		case r.Header.Get("X-aws-ec2-metadata-token") != "TOKEN" && kind != "first version":
			w.WriteHeader(http.StatusUnauthorized)
		case kind == "endless" && path == "user-data":
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		case kind == "bare" && path != "meta-data/instance-id", pages[path] == "":
			w.WriteHeader(http.StatusNotFound)
		default:
			fmt.Fprint(w, pages[path])
		}
	})
}

// provider is a machine that serves metadata, behind the card mgmt0; another card leads nowhere.
func provider(t *testing.T, kind string) {
	t.Helper()
	p := apart.Cable(t, "mgmt0", "host0", "169.254.169.254/16")
	apart.Run(t, "ip", "addr", "replace", "169.254.1.2/16", "dev", "mgmt0")
	c := p.Command("/proc/self/exe")
	c.Path, c.Args = lookUp(t, "nsenter"), append(c.Args[:len(c.Args)-1], own(t))
	c.Env = append(os.Environ(), serveAs+"="+kind)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	line := make([]byte, 200)
	n, _ := out.Read(line)
	if string(line[:n]) != "ready\n" {
		t.Fatalf("the service says %q", line[:n])
	}
}

func lookUp(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func own(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMetadata(t *testing.T) {
	for kind, want := range map[string]string{
		"good":          `{i-0abc ip-10-0-0-5.ec2.internal [ssh-ed25519 AAAA me ssh-ed25519 BBBB you] #sluice` + "\nadd server a 10.0.0.1\n}",
		"busy":          `{i-0abc ip-10-0-0-5.ec2.internal [ssh-ed25519 AAAA me ssh-ed25519 BBBB you] #sluice` + "\nadd server a 10.0.0.1\n}",
		"bare":          "{i-0abc  [] }",
		"first version": "no token",
		"elsewhere":     "no token",
		"mute":          "no token",
	} {
		t.Run(kind, func(t *testing.T) {
			provider(t, kind)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m, err := Metadata(ctx, Service, "mgmt0")
			got := fmt.Sprintf("{%s %s %v %s}", m.InstanceID, m.Hostname, m.PublicKeys, m.UserData)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, want) || (err == nil) != strings.HasPrefix(want, "{") {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestMetadataWithoutEnd: what has no end is cut off at what is read at most.
func TestMetadataWithoutEnd(t *testing.T) {
	provider(t, "endless")
	m, err := Metadata(t.Context(), Service, "mgmt0")
	if err != nil || len(m.UserData) > 2<<20 {
		t.Errorf("%d bytes, %v", len(m.UserData), err)
	}
}

// TestMetadataOfAnotherNetwork: the service behind another card is not asked, whatever the routes say.
func TestMetadataOfAnotherNetwork(t *testing.T) {
	provider(t, "good")
	apart.Cable(t, "other0", "nobody0")
	apart.Run(t, "ip", "addr", "add", "169.254.1.3/32", "dev", "other0")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := Metadata(ctx, Service, "other0"); err == nil || errors.Is(err, errNone) {
		t.Errorf("it has an answer, %v", err)
	}
}
