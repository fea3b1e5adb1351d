package yang

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sluice/mgmt/render"
	"sluice/tests/configs"
	"sluice/vendor-config/schema"
)

var update = flag.Bool("update", false, "write the modules anew")

// What is checked in is what the schema gives.
func TestModulesAreThoseOfTheSchema(t *testing.T) {
	for name, want := range map[string]string{"sluice.yang": Text(), "sluice-held.yang": HeldText()} {
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != want {
			t.Errorf("%s is not what the schema gives (%v): go test ./vendor-config/yang -update", name, err)
		}
	}
	for _, m := range Modules() {
		if !*update && (!strings.HasPrefix(m.Text, "module "+m.Name+" {") || !strings.Contains(m.Text, m.Namespace) || !strings.Contains(m.Text, "revision "+m.Revision)) {
			t.Errorf("%s is not what it says", m.Name)
		}
	}
}

// yanglint runs the validator of libyang with the modules; a word of it fails the test unless it is expected.
func yanglint(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("yanglint", append([]string{"-p", ".", "sluice.yang", "sluice-held.yang"}, args...)...).CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

func TestYanglintAcceptsTheModules(t *testing.T) {
	if out := yanglint(t); out != "" {
		t.Error(out)
	}
}

// TestYanglintTree: the outline that is checked in beside the command reference is that of the module; `make docs` writes it.
func TestYanglintTree(t *testing.T) {
	const file = "../docs/sluice-tree.txt"
	want, err := exec.Command("yanglint", "-p", ".", "-f", "tree", "sluice.yang").Output()
	if err != nil || len(want) < 1000 {
		t.Fatalf("%v, %d bytes", err, len(want))
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		t.Errorf("%s is not that of the module (%v): make docs", file, err)
	}
}

// data writes a configuration to a file as yanglint reads it: what stands in <config>.
func data(t *testing.T, name, text string) string {
	t.Helper()
	if a, b := strings.Index(text, "<config"), strings.Index(text, "</config>"); a >= 0 && b >= 0 {
		text = text[strings.Index(text[a:], ">")+a+1 : b]
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestYanglintAcceptsConfigurations(t *testing.T) {
	for seed := range uint64(40) {
		c := configs.Random(rand.New(rand.NewPCG(seed, 7)), 6)
		for name, write := range map[string]func(*schema.Config) ([]byte, error){"c.xml": render.XML, "c.json": render.JSON} {
			text, err := write(c)
			if err != nil {
				t.Fatal(err)
			}
			if out := yanglint(t, "-t", "config", data(t, name, string(text))); out != "" {
				t.Fatalf("seed %d: %s\n%s", seed, out, text)
			}
		}
	}
}

// TestYanglintRefuses shows that the modules say something: each of these breaks one kind of rule.
func TestYanglintRefuses(t *testing.T) {
	for want, rows := range map[string]string{
		"enum":             `<server><name>a</name><ip-address>10.0.0.1</ip-address><state>SLEEPY</state></server>`,
		"pattern":          `<server><name>a</name><ip-address>10.0.0.256</ip-address></server>`,
		"name":             `<server><name>-a</name><ip-address>10.0.0.1</ip-address></server>`,
		"length":           `<server><name>` + strings.Repeat("a", 128) + `</name></server>`,
		"range":            `<vlan><id>5000</id></vlan>`,
		"leafref":          `<service><name>s</name><server>nowhere</server><service-type>TCP</service-type><port>80</port></service>`,
		"union of leafref": `<lb-monitor><name>m</name><type>TCP</type></lb-monitor><service-monitor><service>s</service><monitor>x</monitor></service-monitor>`,
		"mandatory":        `<service><name>s</name></service>`,
		"key":              `<server><ip-address>10.0.0.1</ip-address></server>`,
		"twice":            `<server><name>a</name></server><server><name>a</name></server>`,
		"unknown":          `<server><name>a</name><colour>red</colour></server>`,
	} {
		if out := yanglint(t, "-t", "config", data(t, "c.xml", `<sluice xmlns="urn:sluice:config">`+rows+`</sluice>`)); out == "" {
			t.Errorf("%s is accepted", want)
		}
	}
}

// TestYanglintAcceptsStartupFiles: with what is not in force, and what every row looks like that is bound to a built-in monitor.
func TestYanglintAcceptsStartupFiles(t *testing.T) {
	file := `<config><sluice><server><name>a</name><ip-address>10.0.0.1</ip-address></server><server><name>b</name><ip-address>x</ip-address></server>
		<service><name>s</name><server>a</server><service-type>TCP</service-type><port>80</port></service>
		<service-monitor><service>s</service><monitor>tcp-default</monitor></service-monitor><zone><name>z</name></zone></sluice></config>`
	d := render.ReadXML([]byte(file), render.Options{})
	if len(d.Held) != 2 {
		t.Fatalf("%v", d.Problems)
	}
	text, err := new(render.Writer).XML(d.Config, d.Held, render.Meta{By: "nsroot"})
	if err != nil {
		t.Fatal(err)
	}
	if out := yanglint(t, "-t", "config", data(t, "startup.xml", string(text))); out != "" {
		t.Errorf("%s\n%s", out, text)
	}
}
