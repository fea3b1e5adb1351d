package sbom

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// owners knows which package a file of the root belongs to.
type owners struct {
	files   map[string]string // of packages' own lists
	folders []owner           // below them everything belongs to one package
}

type owner struct{ prefix, pkg string }

// installed are files that packages make when they are installed, and which therefore stand in no list. What is only a
// link (of update-alternatives) is of the package that it leads to.
var installed = []owner{
	{"/etc/ssl/certs/", "ca-certificates"}, {"/etc/ca-certificates.conf", "ca-certificates"}, {"/etc/ld.so.cache", "libc-bin"},
	{"/etc/passwd", "base-passwd"}, {"/etc/group", "base-passwd"}, {"/etc/shadow", "passwd"}, {"/etc/gshadow", "passwd"}, {"/etc/subuid", "passwd"}, {"/etc/subgid", "passwd"},
	{"/etc/shells", "debianutils"}, {"/var/lib/shells.state", "debianutils"}, {"/etc/environment", "libpam-runtime"}, {"/etc/pam.d/common-", "libpam-runtime"},
	{"/etc/security/opasswd", "libpam-modules"}, {"/etc/profile", "base-files"}, {"/etc/nsswitch.conf", "base-files"}, {"/root/.", "base-files"}, {"/etc/dpkg/origins/default", "base-files"},
	{"/etc/timezone", "tzdata"}, {"/etc/localtime", "tzdata"}, {"/etc/default/", "util-linux"}, {"/etc/modules", "kmod"}, {"/etc/modprobe.d/", "kmod"},
	{"/etc/apparmor.d/local/usr.bin.tcpdump", "tcpdump"}, {"/etc/apparmor.d/local/", "chrony"}, {"/etc/chrony/", "chrony"}, {"/var/lib/systemd/", "systemd"},
	{"/etc/systemd/", "systemd"}, {"/usr/share/info/dir", "dpkg"}, {"/var/lib/dpkg/", "dpkg"}, {"/etc/debconf.conf", "debconf"}, {"/etc/adduser.conf", "adduser"}, {"/etc/inputrc", "readline-common"},
}

// readOwners reads dpkg's lists of files. Since /bin, /sbin and /lib are links, files are known by what they lead to.
func readOwners(info string) (*owners, error) {
	o := &owners{files: map[string]string{}, folders: append([]owner{}, installed...)}
	lists, err := filepath.Glob(filepath.Join(info, "*.list"))
	if err != nil {
		return nil, err
	}
	if len(lists) == 0 {
		return nil, fmt.Errorf("%s has no lists of packages' files", info)
	}
	for _, list := range lists {
		pkg, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(list), ".list"), ":") // name:architecture
		f, err := os.Open(list)
		if err != nil {
			return nil, err
		}
		s := bufio.NewScanner(f)
		for s.Scan() {
			o.files[merged(s.Text())] = pkg
		}
		f.Close()
		if err := s.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", list, err)
		}
	}
	return o, nil
}

// merged is a file's name with /usr merged.
func merged(name string) string {
	for _, top := range []string{"/bin/", "/sbin/", "/lib/", "/lib64/", "/lib32/", "/libx32/"} {
		if strings.HasPrefix(name, top) {
			return "/usr" + name
		}
	}
	return name
}

// add says that what has a prefix belongs to a package, before all that is known by folders.
func (o *owners) add(prefix, pkg string) {
	o.folders = append([]owner{{prefix, pkg}}, o.folders...)
}

// of is the package of a file, "" if none is known.
func (o *owners) of(name string) string {
	if pkg := o.files[name]; pkg != "" {
		return pkg
	}
	for _, f := range o.folders {
		if strings.HasPrefix(name, f.prefix) {
			return f.pkg
		}
	}
	return ""
}
