package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"sluice/mgmt/render"
	"sluice/vendor-config/schema"
)

// DraftFile is the name of the file with the candidate and the running configuration that it began from, one behind the other. It is
// written within moments, like the journal, and outlives restarts of the machine too.
const DraftFile = "candidate.xml"

// unusedDraft is where a candidate goes that cannot be read.
const unusedDraft = DraftFile + ".unused"

// Draft is a candidate.
type Draft struct {
	Config  *schema.Config
	Base    *schema.Config // the running configuration that it began from
	Version uint64         // of Base
	By      string         // user who has begun it
	At      time.Time
}

// drafts are what is to be written of candidates, and what is kept for the next one. Guarded by mu, but for the writers, which
// writing guards.
type drafts struct {
	next         *Draft // nil: there is none any more
	due          bool   // next is not on the disk yet
	config, base *render.Writer
}

// NoteDraft makes d what is kept as the candidate, nil for none. It never waits; Journal does the writing.
func (s *Store) NoteDraft(d *Draft) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drafts.next, s.drafts.due = d, true
	s.wake()
}

// writeDraft writes the candidate, if there is news of it. It comes behind the journal: what has left the candidate for the running
// configuration is in one of the two files at any time. The caller holds writing.
func (s *Store) writeDraft() (did bool, err error) {
	s.mu.Lock()
	d, due := s.drafts.next, s.drafts.due
	s.drafts.due = false
	s.mu.Unlock()
	if !due {
		return false, nil
	}
	if err := s.putDraft(d); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.drafts.due { // else there is a newer one
			s.drafts.next, s.drafts.due = d, true
		}
		return true, fmt.Errorf("the candidate would not survive a restart of management: %w", err)
	}
	return true, nil
}

func (s *Store) putDraft(d *Draft) error {
	if d == nil {
		s.drafts.config, s.drafts.base = nil, nil
		_, err := s.drop(DraftFile)
		return err
	}
	if s.drafts.config == nil {
		s.drafts.config, s.drafts.base = new(render.Writer), new(render.Writer)
	}
	config, err := s.drafts.config.Text(d.Config, nil, Meta{})
	if err != nil {
		return err
	}
	base, err := s.drafts.base.Text(d.Base, nil, Meta{})
	if err != nil {
		return err
	}
	size := 0
	for _, piece := range config[1:] {
		size += len(piece)
	}
	body := append(config[1:len(config):len(config)], base[1:]...)
	head := fmt.Sprintf("<?sluice-candidate version=\"%d\" by=%q at=%q size=\"%d\" sum=%q?>\n", d.Version, plainWord(d.By), d.At.UTC().Format(time.RFC3339), size, sumOfText(body))
	if err := s.put(DraftFile, append(render.Text{[]byte(render.Head + head)}, body...)); err != nil {
		return err
	}
	return s.disk.syncDir(s.dir)
}

var draftHead = regexp.MustCompile(`^<\?sluice-candidate version="(\d+)" by="([^"]*)" at="([^"]*)" size="(\d+)" sum="([^"]*)"\?>\n`)

// LastDraft is the candidate that an earlier run of management has left, or nil. One that cannot be used is put aside.
func (s *Store) LastDraft() (*Draft, error) {
	data, err := readOwn(filepath.Join(s.dir, DraftFile), 2*maxFile+4096) // two configurations and the head
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var d *Draft
	if err == nil {
		d, err = parseDraft(data)
	}
	if err == nil {
		return d, nil
	}
	return nil, s.putAside(DraftFile, unusedDraft, fmt.Errorf("the candidate of before cannot be used and is put aside as %s: %w", unusedDraft, err))
}

func parseDraft(data []byte) (*Draft, error) {
	m, body := sealed(data, draftHead)
	if m == nil {
		return nil, errors.New("it is damaged")
	}
	size, err := strconv.Atoi(m[4])
	if err != nil || size > len(body) {
		return nil, errors.New("it is damaged")
	}
	d := &Draft{By: m[2]}
	d.Version, _ = strconv.ParseUint(m[1], 10, 64)
	d.At, _ = time.Parse(time.RFC3339, m[3])
	for i, text := range [][]byte{body[:size], body[size:]} {
		r := render.ReadXML(text, render.Options{Own: true}) // whether it fits is asked when it is committed
		if err := r.Refusal(); err != nil {
			return nil, err
		}
		if i == 0 {
			d.Config = r.Config
		} else {
			d.Base = r.Config
		}
	}
	return d, nil
}
