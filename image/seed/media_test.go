package seed

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sluice/image/firstboot"
	"sluice/tests/apart"
)

// TestMain: networks are made out of sight of other programs.
func TestMain(m *testing.M) {
	if serving() {
		return
	}
	apart.Main(m, apart.Network)
}

// folder makes files; a content that begins with -> is a link.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		var err error
		if to, link := strings.CutPrefix(text, "->"); link {
			err = os.Symlink(to, filepath.Join(dir, name))
		} else {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// rooted is a folder as what a medium is mounted on.
func rooted(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestContents: what is read of a medium once it is mounted; that needs the appliance's kernel, and is shown in tests/image.
func TestContents(t *testing.T) {
	for name, row := range map[string]struct {
		seed  bool
		files map[string]string
		want  Kind
		read  firstboot.Files
	}{
		"NoCloud":      {true, map[string]string{"user-data": "u", "meta-data": "m", "network-config": "n"}, NoCloud, firstboot.Files{UserData: []byte("u"), MetaData: []byte("m"), NetworkConfig: []byte("n")}},
		"plain names":  {true, map[string]string{"USER_DATA.;1": "u", "Meta-Data": "m"}, NoCloud, firstboot.Files{UserData: []byte("u"), MetaData: []byte("m")}},
		"an empty one": {true, map[string]string{"user-data": ""}, NoCloud, firstboot.Files{UserData: []byte{}}},
		"NetScaler":    {false, map[string]string{"userdata": "x", "ovf-env.xml": "y"}, NetScaler, firstboot.Files{UserData: []byte("x")}},
		"OVF":          {false, map[string]string{"OVF-ENV.XML;1": "y", "user-data": "z"}, OVF, firstboot.Files{UserData: []byte("y")}},
		"other":        {false, map[string]string{"film": "x"}, Nothing, firstboot.Files{}},
		"long":         {true, map[string]string{"user-data": strings.Repeat("x", firstboot.Largest+10)}, NoCloud, firstboot.Files{UserData: []byte(strings.Repeat("x", firstboot.Largest+1))}},
	} {
		kind, f, err := contents(rooted(t, row.files), row.seed)
		if err != nil || kind != row.want || !reflect.DeepEqual(f, row.read) {
			t.Errorf("%s: %v %.200q, %v", name, kind, f, err)
		}
	}
}

// TestContentsThatLeadElsewhere: a link on a disc leads to no file of the machine, and what is no file is not read.
func TestContentsThatLeadElsewhere(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("S3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{secret, "../../../../../../.." + secret, "/dev/zero", "."} {
		_, f, err := contents(rooted(t, map[string]string{"user-data": "->" + to, "meta-data": "m"}), true)
		if err == nil || f.UserData != nil || string(f.MetaData) != "m" {
			t.Errorf("%s: %q %v", to, f, err)
		}
	}
	root := rooted(t, map[string]string{"meta-data": "m"})
	if err := unix.Mkfifo(filepath.Join(root.Name(), "user-data"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, f, err := contents(root, true); err == nil || f.UserData != nil {
		t.Errorf("a pipe: %q %v", f, err)
	}
}

// TestProbe: real discs and sticks, not mounted.
func TestProbe(t *testing.T) {
	files, dir := map[string]string{"user-data": "u"}, t.TempDir()
	iso, img, none := filepath.Join(dir, "iso"), filepath.Join(dir, "img"), filepath.Join(dir, "none")
	apart.Run(t, "xorrisofs", "-quiet", "-V", "cidata", "-J", "-r", "-o", iso, folder(t, files))
	for _, name := range []string{img, none} {
		if err := os.WriteFile(name, make([]byte, 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apart.Run(t, "mkfs.vfat", "-n", "CIDATA", img)
	for name, want := range map[string][2]string{iso: {"cidata", "iso9660"}, img: {"CIDATA", "vfat"}, none: {}, dir + "/gone": {}} {
		if label, kind := probe(name); label != want[0] || kind != want[1] {
			t.Errorf("%s: %q %q", name, label, kind)
		}
	}
	for _, name := range []string{none, dir + "/gone"} { // an empty drive is no fault
		if m, err := Read(name, filepath.Join(dir, "point")); err != nil || m.Kind != Nothing {
			t.Errorf("%s: %v %v", name, m, err)
		}
	}
}

func TestFirmware(t *testing.T) {
	sys := t.TempDir()
	if _, found, err := FirmwareConfig(sys); found || err != nil || OEM(sys) != nil || OnEC2(sys) {
		t.Error("there is nothing, and something is found")
	}
	for name, text := range map[string]string{fwcfg + "/user-data/raw": "#sluice\n", fwcfg + "/meta-data/raw": "", "firmware/dmi/entries/11-0/raw": "one", "firmware/dmi/entries/11-1/raw": "two",
		"firmware/dmi/entries/1-0/raw": "no", "class/dmi/id/sys_vendor": "Amazon EC2\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(sys, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sys, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, found, err := FirmwareConfig(sys)
	if !found || err != nil || string(f.UserData) != "#sluice\n" || f.NetworkConfig != nil || len(OEM(sys)) != 2 || !OnEC2(sys) {
		t.Errorf("%q %v %v %q", f, found, err, OEM(sys))
	}
}
