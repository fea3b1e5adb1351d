package store

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/mgmt/render"
	"sluice/vendor-config/schema"
)

// HistoryDir is the folder of the store's directory with the history: one compressed file a version of the running
// configuration, which zcat reads, named by its number. What it is, by whom and when stands in the head of the file.
const HistoryDir = "history"

const (
	historyFiles = 100       // versions that are kept
	historyBytes = 64 << 20  // greatest size of all of them; the newest is kept in any case
	historyLines = 20        // changes that a version tells of; the rest is counted
	historyLine  = 400       // bytes of a line or a comment that are kept
	historyApart = 16        // versions that wait to be written and are written each by itself; of more only the last one
	historyEnd   = ".xml.gz" // of the names of files
)

// Change is one command that was part of a version.
type Change struct {
	User    string `json:"user"`
	Source  string `json:"source,omitempty"`
	Line    string `json:"line,omitempty"` // as typed, without secrets
	Comment string `json:"comment,omitempty"`
}

// Version is one version of the running configuration in the history.
type Version struct {
	Number  uint64    `json:"number"`
	First   uint64    `json:"first"` // of the versions that came too fast to be kept each; Number if it is the only one
	At      time.Time `json:"at"`
	Changes []Change  `json:"changes"`
	More    int       `json:"more,omitempty"` // changes that are not listed
	Sum     string    `json:"sum"`            // of the configuration
}

// kept is a version that waits to be written.
type kept struct {
	Version
	config *schema.Config
}

// Record notes c for the journal and as a version of the history. It never waits.
func (s *Store) Record(c *schema.Config, v Version) {
	v = clipped(v)
	s.mu.Lock()
	defer s.mu.Unlock()
	j := &s.journal
	if n := len(j.versions); n >= historyApart {
		j.versions[n-1] = kept{joined(j.versions[n-1].Version, v), c}
	} else {
		j.versions = append(j.versions, kept{v, c})
	}
	s.note(c)
}

// clipped bounds what a version tells of itself.
func clipped(v Version) Version {
	if v.First == 0 {
		v.First = v.Number
	}
	if n := len(v.Changes) - historyLines; n > 0 {
		v.Changes, v.More = v.Changes[:historyLines], v.More+n
	}
	v.Changes = slices.Clone(v.Changes)
	for i := range v.Changes {
		c := &v.Changes[i]
		for _, text := range []*string{&c.User, &c.Source, &c.Line, &c.Comment} {
			*text = short(*text, historyLine)
		}
	}
	return v
}

func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// joined is what is told of two versions that are written as one.
func joined(a, b Version) Version {
	b.First = a.First
	b.Changes, b.More = slices.Concat(a.Changes, b.Changes), a.More+b.More
	return clipped(b)
}

// writeHistory writes the versions that wait. Those that could not be written wait on.
func (s *Store) writeHistory() error {
	s.mu.Lock()
	all := s.journal.versions
	s.journal.versions = nil
	s.mu.Unlock()
	for i, k := range all {
		if err := s.writeVersion(k); err != nil {
			s.mu.Lock()
			s.journal.versions = append(slices.Clone(all[i:]), s.journal.versions...)
			for len(s.journal.versions) > historyApart {
				v := s.journal.versions
				s.journal.versions = append(v[:historyApart-1], kept{joined(v[historyApart-1].Version, v[historyApart].Version), v[historyApart].config})
				s.journal.versions = append(s.journal.versions, v[historyApart+1:]...)
			}
			s.mu.Unlock()
			return fmt.Errorf("version %d is missing in the history: %w", k.Number, err)
		}
	}
	return nil
}

// writeVersion writes one version, if it differs from the last one, and removes the oldest ones.
func (s *Store) writeVersion(k kept) error {
	text, err := s.writer.Text(k.config, nil, Meta{})
	if err != nil {
		return err
	}
	if k.Sum = sumOfText(text); k.Sum == s.lastSum() {
		return nil
	}
	packed, err := pack(text, k.Version)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, HistoryDir)
	if err := s.disk.mkdir(dir); err != nil {
		return err
	}
	if err := s.Put(filepath.Join(HistoryDir, strconv.FormatUint(k.Number, 10)+historyEnd), packed); err != nil {
		return err
	}
	s.sumOfLast = k.Sum
	return s.prune()
}

// lastSum names the content of the newest version. The caller holds writing.
func (s *Store) lastSum() string {
	if s.sumOfLast == "" {
		for v := range s.versions() {
			s.sumOfLast = v.Sum
			break
		}
	}
	return s.sumOfLast
}

// prune removes the oldest versions beyond what is kept.
func (s *Store) prune() error {
	size := int64(0)
	for i, f := range s.versionFiles() {
		if info, err := os.Stat(f.path); err == nil {
			size += info.Size()
		}
		if i > 0 && (i >= historyFiles || size > historyBytes) {
			if err := s.disk.remove(f.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// Extra field of the file's head (RFC 1952, 2.3.1.1): our subfield holds the version as JSON.
const extraID = "SL"

func pack(text render.Text, v Version) ([]byte, error) {
	about, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	for len(about) > 0xffff-4 { // as many control characters as fit in a line may make it longer
		v.More, v.Changes = v.More+1, v.Changes[:len(v.Changes)-1]
		if about, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	z.Extra = append(binary.LittleEndian.AppendUint16([]byte(extraID), uint16(len(about))), about...)
	if _, err := text.WriteTo(z); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func about(z *gzip.Reader) (Version, error) {
	var v Version
	x := z.Extra
	if len(x) < 4 || string(x[:2]) != extraID || int(binary.LittleEndian.Uint16(x[2:])) != len(x)-4 {
		return v, errors.New("its head does not tell which version it is")
	}
	return v, json.Unmarshal(x[4:], &v)
}

type versionFile struct {
	number uint64
	path   string
}

// versionFiles are the files of the history, the newest first.
func (s *Store) versionFiles() []versionFile {
	all, _ := filepath.Glob(filepath.Join(s.dir, HistoryDir, "*"+historyEnd))
	var out []versionFile
	for _, path := range all {
		n, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), historyEnd), 10, 64)
		if err == nil {
			out = append(out, versionFile{n, path})
		}
	}
	slices.SortFunc(out, func(a, b versionFile) int { return cmp.Compare(b.number, a.number) })
	return out
}

// LastVersion is the number of the newest version in the history, 0 if there is none.
func (s *Store) LastVersion() uint64 {
	if all := s.versionFiles(); len(all) > 0 {
		return all[0].number
	}
	return 0
}

// History tells of the versions that are kept, the newest first. Files that are damaged are left out.
func (s *Store) History() []Version {
	return slices.Collect(s.versions())
}

// versions reads them one by one.
func (s *Store) versions() iter.Seq[Version] {
	return func(yield func(Version) bool) {
		for _, f := range s.versionFiles() {
			if v, err := readHead(f.path); err == nil && v.Number == f.number && !yield(v) {
				return
			}
		}
	}
}

func readHead(path string) (Version, error) {
	f, err := os.Open(path)
	if err != nil {
		return Version{}, err
	}
	defer f.Close()
	_, v, err := openVersion(f)
	return v, err
}

// openVersion reads the head of a version's file; the configuration follows in z.
func openVersion(f io.Reader) (z *gzip.Reader, v Version, err error) {
	if z, err = gzip.NewReader(f); err == nil {
		v, err = about(z)
	}
	return z, v, err
}

// AtVersion is the configuration of a version of the history. Rows that do not fit the appliance any more are problems.
func (s *Store) AtVersion(n uint64) (*schema.Config, []Problem, error) {
	path := filepath.Join(s.dir, HistoryDir, strconv.FormatUint(n, 10)+historyEnd)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, s.noVersion(n)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	z, v, err := openVersion(f)
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(z, maxFile+1))
	}
	if err == nil && (len(data) > maxFile || sumOf(data) != v.Sum) {
		err = errors.New("its content is not what was written")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("version %d in %s is damaged: %w", n, path, err)
	}
	r := render.ReadXML(data, render.Options{Check: s.Check, Own: true})
	return r.Config, r.Problems, nil
}

// noVersion says why there is no version n.
func (s *Store) noVersion(n uint64) error {
	why := "the history is empty"
	for _, v := range s.History() {
		if v.First <= n && n < v.Number {
			return schema.Refuse(schema.NoSuchRow, "version", strconv.FormatUint(n, 10)).Because(
				fmt.Sprintf("versions %d to %d came within a moment and are kept as %d", v.First, v.Number, v.Number))
		}
		why = fmt.Sprintf("the oldest that is kept is %d, see show ns config -history", v.Number)
	}
	return schema.Refuse(schema.NoSuchRow, "version", strconv.FormatUint(n, 10)).Because(why)
}
