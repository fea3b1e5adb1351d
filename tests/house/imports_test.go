// Package house holds the rules of the house as tests: which room may import what, and that every room says what it
// is for. It looks at the source only and runs nothing of it.
package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

type pkg struct {
	ImportPath, Dir, Doc, Name string
	Imports                    []string
	CgoFiles, GoFiles          []string
}

// packages lists every package of the module. Test imports are free: tests may cross rooms.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func room(path string) string { return strings.TrimPrefix(path, "sluice/") }

func in(room string, tops ...string) bool {
	return slices.ContainsFunc(tops, func(t string) bool { return room == t || strings.HasPrefix(room, t+"/") })
}

// breach says why room from must not import room to, or "".
func breach(from, to string) string {
	switch {
	case in(from, "vendor-config") && !in(to, "vendor-config"):
		return "vendor-config is the lowest room: it describes objects and knows nobody"
	case in(from, "cli") && !in(to, "cli", "vendor-config"):
		return "cli knows the appliance only through shell.Backend"
	case in(from, "dataplane/api") && !in(to, "dataplane/api"):
		return "the contract depends on neither side"
	case in(from, "dataplane") && in(to, "mgmt", "cli", "vendor-config"):
		return "the dataplane knows tables, never configuration"
	case in(from, "mgmt") && in(to, "dataplane") && !in(to, "dataplane/api"):
		return "management meets the dataplane in dataplane/api only"
	case in(from, "image") && !in(to, "image", "vendor-config", "cli/remote"):
		return "image starts the programs and knows none of them from inside; it logs in as any client does"
	case in(to, "image") && !in(from, "image", "tests") && !(in(from, "mgmt") && in(to, "image/slot", "image/bundle")):
		return "image is what the programs lie in: management alone installs one, by image/slot and image/bundle"
	case in(from, "mgmt") && from != "mgmt" && to == "mgmt", in(to, "tests") && !in(from, "tests"):
		return "nobody imports a program or a test"
	}
	return ""
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		from := room(p.ImportPath)
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "sluice/") {
				if why := breach(from, room(imp)); why != "" {
					t.Errorf("%s imports %s: %s", from, room(imp), why)
				}
			}
			cloud := strings.Contains(imp, "aws-sdk") || strings.Contains(imp, "go.etcd.io")
			if cloud && !in(from, "mgmt/console") {
				t.Errorf("%s imports %s: only the console may know clouds and etcd", from, imp)
			}
			if strings.HasPrefix(imp, "github.com/spf13/viper") && p.Name != "main" {
				t.Errorf("%s imports viper: settings are read once, in main packages", from)
			}
		}
		// The bench's yardstick in C is no part of the product, and no program of it can import it.
		if len(p.CgoFiles) > 0 && from != "dataplane/port" && from != "tests/bench/ctwin" {
			t.Errorf("%s uses cgo: only dataplane/dpdk and dataplane/port may", from)
		}
	}
}

// TestBreaches shows that the rules can fail.
func TestBreaches(t *testing.T) {
	for _, row := range [][2]string{
		{"vendor-config/schema", "cli/grammar"}, {"cli/shell", "mgmt/engine"}, {"mgmt/engine", "dataplane/table"},
		{"dataplane/worker", "mgmt/compile"}, {"dataplane/api", "dataplane/packet"}, {"mgmt/engine", "tests/lab"},
		{"image/nic", "dataplane/port"}, {"dataplane", "image/nic"}, {"mgmt", "image/nic"},
	} {
		if breach(row[0], row[1]) == "" {
			t.Errorf("%s may import %s, but must not", row[0], row[1])
		}
	}
	for _, row := range [][2]string{{"mgmt/compile", "dataplane/api"}, {"cli/grammar", "vendor-config/schema"}, {"mgmt/sshd", "cli/shell"},
		{"image/boot", "vendor-config/platforms"}, {"image/boot", "cli/remote"}, {"mgmt", "image/bundle"}} {
		if why := breach(row[0], row[1]); why != "" {
			t.Errorf("%s may not import %s: %s", row[0], row[1], why)
		}
	}
}

func TestEveryRoomSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles)+len(p.CgoFiles) > 0 && len(p.Doc) < 30 {
			t.Errorf("%s has no package comment", room(p.ImportPath))
		}
	}
}
