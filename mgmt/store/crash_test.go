package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice/mgmt/render"
)

// TestMain lets the test program be the one that is killed or that meets a full disk.
func TestMain(m *testing.M) {
	dir := os.Getenv("STORE_TEST_DIR")
	switch os.Getenv("STORE_TEST_ROLE") {
	case "save-for-ever":
		saveForEver(dir)
	case "die-at":
		dieAt(dir)
	case "restore":
		restoreAt(dir)
	case "enter":
		enterAt(dir)
	case "finish":
		finishAt(dir)
	case "no-room":
		noRoom(dir)
	}
	os.Exit(m.Run())
}

// version is a configuration that tells its number; a later one may be shorter.
func version(n int) []string {
	rows := []string{fmt.Sprint("v", n)}
	for i := range n * 7 % 40 {
		rows = append(rows, fmt.Sprintf("v%d-%d", n, i))
	}
	return rows
}

// saveForEver saves version after version and prints each one's number once Save has returned.
func saveForEver(dir string) {
	s, err := Open(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	n, _ := strconv.Atoi(os.Getenv("STORE_TEST_FROM"))
	for ; ; n++ {
		if err := s.Save(servers(version(n)...), Meta{By: "crash"}); err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		fmt.Println(n)
	}
}

func child(t *testing.T, role, dir string, more ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), "STORE_TEST_ROLE="+role, "STORE_TEST_DIR="+dir), more...)
	return c
}

func TestKilledWhileSaving(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	saved, kills := 0, 0
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end) || kills < 5; kills++ {
		c := child(t, "save-for-ever", dir, "STORE_TEST_FROM="+strconv.Itoa(saved+1))
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		first, err := lines.ReadString('\n') // it is at work
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(25000)) * time.Microsecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(lines)
		_ = c.Wait()
		done := last(t, first+string(rest))
		saved = check(t, dir, done)
		checkEarlier(t, dir)
	}
	t.Logf("%d kills, %d versions", kills, saved)
	if left, _ := filepath.Glob(filepath.Join(dir, File+".tmp-*")); len(left) > 0 {
		t.Errorf("remains of cut-off saves: %v", left)
	}
}

// last is the last number that the child has printed whole.
func last(t *testing.T, out string) int {
	t.Helper()
	whole := strings.Fields(out[:strings.LastIndex(out, "\n")])
	n, err := strconv.Atoi(whole[len(whole)-1])
	if err != nil {
		t.Fatalf("the saving program says: %s", out)
	}
	return n
}

// check finds version done or the one after it, whole, and returns its number.
func check(t *testing.T, dir string, done int) int {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := loaded(t, s)
	n, err := strconv.Atoi(strings.TrimPrefix(strings.Fields(got)[0], "v"))
	if err != nil || got != strings.Join(version(n), " ") {
		t.Fatalf("the file holds no version that was saved: %q", got)
	}
	if n != done && n != done+1 {
		t.Fatalf("version %d was saved and %d is on the disk", done, n)
	}
	return n
}

func checkEarlier(t *testing.T, dir string) {
	t.Helper()
	s := &Store{dir: dir}
	newer := 1 << 60
	for _, f := range s.Earlier() {
		data, err := os.ReadFile(f)
		r := render.ReadXML(data, render.Options{})
		if err != nil || len(r.Problems) > 0 {
			t.Fatalf("%s: %v %v", f, err, r.Problems)
		}
		n, _ := strconv.Atoi(strings.TrimPrefix(strings.Fields(names(r.Config))[0], "v"))
		if n > newer {
			t.Fatalf("%s holds version %d, a lower number holds %d", f, n, newer)
		}
		newer = n
	}
}

// noRoom saves a file that is larger than the process may write.
func noRoom(dir string) {
	signal.Ignore(unix.SIGXFSZ)
	s, err := Open(dir)
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1000, Max: 1000})
	}
	if err == nil {
		err = s.Save(servers(version(39)...), Meta{})
	}
	fmt.Println(err)
	os.Exit(0)
}

func TestKernelRefusesTheWrite(t *testing.T) {
	s := open(t)
	save(t, s, "a")
	out, err := child(t, "no-room", s.dir).Output()
	if err != nil || !strings.Contains(string(out), "is not saved, the earlier startup configuration is unchanged: write ") || bytes.Count(out, []byte("\n")) != 1 {
		t.Fatalf("%v %s", err, out)
	}
	unchanged(t, s, "a")
}

// unchanged tells that the store's directory holds a as the startup file and no remains of a save.
func unchanged(t *testing.T, s *Store, want string) {
	t.Helper()
	if got := loaded(t, s); got != want {
		t.Fatalf("the startup file holds %q", got)
	}
	if left, _ := filepath.Glob(s.Path() + ".tmp-*"); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

var errDisk = unix.ENOSPC

// faulty is a file whose n-th operation fails.
type faulty struct {
	file
	step func(string) error
}

func (f faulty) Write(b []byte) (int, error) {
	if err := f.step("write"); err != nil {
		n, _ := f.file.Write(b[:len(b)/2])
		return n, err
	}
	return f.file.Write(b)
}

func (f faulty) Sync() error {
	if err := f.step("sync"); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f faulty) Chmod(mode fs.FileMode) error {
	if err := f.step("mode"); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

func (f faulty) Close() error {
	err := f.step("close")
	return errors.Join(err, f.file.Close())
}

// failing makes every step call step first.
func failing(d disk, step func(string) error) disk {
	two := func(name string, do func(a, b string) error) func(a, b string) error {
		return func(a, b string) error {
			if err := step(name); err != nil {
				return err
			}
			return do(a, b)
		}
	}
	one := func(name string, do func(string) error) func(string) error {
		return func(a string) error {
			if err := step(name); err != nil {
				return err
			}
			return do(a)
		}
	}
	return disk{
		create: func(dir string) (file, error) {
			if err := step("create"); err != nil {
				return nil, err
			}
			f, err := d.create(dir)
			return faulty{f, step}, err
		},
		link: two("link", d.link), rename: two("rename", d.rename), remove: one("remove", d.remove), mkdir: one("mkdir", d.mkdir),
		syncDir: one("sync directory", d.syncDir),
		lay: func(root *os.Root, name string) (file, error) {
			if err := step("lay"); err != nil {
				return nil, err
			}
			f, err := d.lay(root, name)
			return faulty{f, step}, err
		},
		move: func(root *os.Root, from, to string) error {
			return two("move", func(from, to string) error { return d.move(root, from, to) })(from, to)
		},
		folder: func(root *os.Root, name string, mode fs.FileMode) error {
			return one("folder", func(name string) error { return d.folder(root, name, mode) })(name)
		},
		clear: func(root *os.Root, name string) error {
			if err := step("clear"); err != nil { // half of it is then gone
				return errors.Join(err, clearHalf(root, name))
			}
			return d.clear(root, name)
		},
	}
}

// clearHalf removes every second file below a folder.
func clearHalf(root *os.Root, name string) error {
	n := 0
	return fs.WalkDir(root.FS(), name, func(at string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		if n++; n%2 == 0 {
			return nil
		}
		return root.Remove(at)
	})
}

// Every single step of a save fails once, with two earlier versions and a damaged file to be put aside.
func TestEveryStepMayFail(t *testing.T) {
	for n := 0; ; n++ {
		s := open(t)
		save(t, s, "x")
		save(t, s, "y")
		save(t, s, "a")
		step, failed := 0, ""
		s.disk = failing(s.disk, func(name string) error {
			step++
			if step == n+1 {
				failed = name
				return errDisk
			}
			return nil
		})
		err := s.Save(servers("b"), Meta{})
		s.disk = realDisk
		if failed == "" {
			if err != nil || n < 6 {
				t.Fatalf("%d steps, %v", n, err)
			}
			return
		}
		if !errors.Is(err, errDisk) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("step %d, %s: %v", n, failed, err)
		}
		if failed == "sync directory" { // the name is changed; only its survival of a power cut is in doubt
			unchanged(t, s, "b")
		} else {
			unchanged(t, s, "a")
		}
		checkNames(t, s, failed, "a", "x", "y")
		save(t, s, "c") // and the next one works
		unchanged(t, s, "c")
		checkNames(t, s, failed, "x", "y", "a")
	}
}

// checkNames tells that each of the versions is still there under some name.
func checkNames(t *testing.T, s *Store, failed string, want ...string) {
	t.Helper()
	var got []string
	for _, f := range append(s.Earlier(), s.Path()) {
		data, _ := os.ReadFile(f)
		got = append(got, names(render.ReadXML(data, render.Options{}).Config))
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Fatalf("%s failed: version %q is lost, there are %v", failed, w, got)
		}
	}
}

// The order is what makes a power cut harmless: the text is on the disk before it gets the name.
func TestOrderOfSteps(t *testing.T) {
	s := open(t)
	save(t, s, "a")
	save(t, s, "b")
	var steps []string
	s.disk = failing(s.disk, func(name string) error { steps = append(steps, name); return nil })
	save(t, s, "c")
	want := "create write sync close rename link rename sync directory"
	if got := strings.Join(steps, " "); got != want {
		t.Fatalf("steps %s\nwant  %s", got, want)
	}
}

func TestNoHardLinks(t *testing.T) {
	s := open(t)
	s.disk.link = func(string, string) error { return unix.EPERM } // FAT
	save(t, s, "a")
	save(t, s, "b")
	unchanged(t, s, "b")
	checkNames(t, s, "link", "a", "b")
	write(t, s, doc(server("q"), "<server>"))
	c, _ := load(t, s)
	if err := s.Save(c, Meta{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Path() + ".broken-1"); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryIsGone(t *testing.T) {
	s := open(t)
	save(t, s, "a")
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(servers("b"), Meta{}); err == nil || !strings.Contains(err.Error(), "is not saved") {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(os.Args[0], "x")); err == nil || !strings.Contains(err.Error(), "cannot be created") {
		t.Fatal(err)
	}
}
