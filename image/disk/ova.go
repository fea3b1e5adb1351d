package disk

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"sluice/image/tool"
)

// property is one of what an OVF environment may tell the appliance at its first start; image/firstboot reads them.
type property struct {
	Key, Label string
	Secret     bool
}

var properties = []property{
	{"hostname", "Host name", false},
	{"ip", "Management address (NSIP); DHCP if empty", false},
	{"netmask", "Netmask", false},
	{"gateway", "Gateway", false},
	{"dns", "Name servers", false},
	{"password", "Password of nsroot", true},
	{"public-keys", "SSH public keys of nsroot", false},
	{"user-data", "User-data, base64", false},
}

// OVA writes a disk as an OVF package in one file (DSP0243): description, digests, disk.
func OVA(ctx context.Context, box tool.Box, raw, descriptor, version, file string) error {
	base := strings.TrimSuffix(filepath.Base(file), ".ova")
	vmdk := strings.TrimSuffix(file, ".ova") + ".vmdk"
	if err := VMDK(ctx, box, raw, vmdk); err != nil {
		return err
	}
	ovf, err := describe(raw, vmdk, descriptor, version)
	if err != nil {
		return err
	}
	sum, err := digest(vmdk)
	if err != nil {
		return err
	}
	own := sha256.Sum256(ovf)
	manifest := fmt.Sprintf("SHA256(%s.ovf)= %s\nSHA256(%s.vmdk)= %s\n", base, hex.EncodeToString(own[:]), base, sum)
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	err = pack(box, out, base, ovf, []byte(manifest), vmdk)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// describe fills the descriptor in.
func describe(raw, vmdk, descriptor, version string) ([]byte, error) {
	text, err := os.ReadFile(descriptor)
	if err != nil {
		return nil, err
	}
	t, err := template.New("ovf").Funcs(template.FuncMap{"add": func(a, b int) int { return a + b }}).Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", descriptor, err)
	}
	disk, err := os.Stat(raw)
	if err != nil {
		return nil, err
	}
	packed, err := os.Stat(vmdk)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	err = t.Execute(&b, struct {
		DiskFile               string
		DiskFileSize, DiskSize int64
		Version                string
		Networks               []string
		Properties             []property
	}{filepath.Base(vmdk), packed.Size(), disk.Size(), version, []string{"management", "clients", "servers"}, properties})
	return []byte(b.String()), err
}

// pack writes the archive: ustar, the description first, as hypervisors want it.
func pack(box tool.Box, out io.Writer, base string, ovf, manifest []byte, vmdk string) error {
	w := tar.NewWriter(out)
	head := func(name string, size int64) error {
		return w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644, ModTime: box.Epoch, Format: tar.FormatUSTAR})
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{base + ".ovf", ovf}, {base + ".mf", manifest}} {
		if err := head(f.name, int64(len(f.content))); err != nil {
			return err
		}
		if _, err := w.Write(f.content); err != nil {
			return err
		}
	}
	in, err := os.Open(vmdk)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := head(base+".vmdk", info.Size()); err != nil {
		return err
	}
	if _, err := io.Copy(w, in); err != nil {
		return err
	}
	return w.Close()
}

func digest(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
