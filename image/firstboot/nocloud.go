package firstboot

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
)

// Files are what a source has fetched: the files of NoCloud by their names, or what stands for them elsewhere.
type Files struct {
	UserData, MetaData, NetworkConfig []byte
}

// NoCloud reads the three files of a NoCloud seed, each of which may be missing.
func NoCloud(f Files) *Answers {
	a := &Answers{Source: "NoCloud"}
	a.read(f)
	return a
}

// read reads the three files within any source. What user-data says wins over meta-data.
func (a *Answers) read(f Files) {
	a.metaData(f.MetaData)
	a.networkConfig(f.NetworkConfig)
	a.userData(f.UserData, 0)
}

// deepest is how many wrappings of user-data are opened: a compressed archive of parts, say.
const deepest = 3

// userData reads user-data by what it begins with.
func (a *Answers) userData(text []byte, depth int) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	first, _, _ := strings.Cut(string(bytes.TrimSpace(text[:min(len(text), 256)])), "\n")
	first = strings.TrimSpace(first)
	begins := func(words ...string) bool {
		for _, w := range words {
			if strings.HasPrefix(strings.ToLower(first), w) {
				return true
			}
		}
		return false
	}
	switch {
	case len(text) > Largest:
		a.problem("user-data is larger than %d bytes", Largest)
	case depth > deepest:
		a.problem("user-data is wrapped more than %d times", deepest)
	case bytes.HasPrefix(text, []byte("\x1f\x8b")):
		a.compressed(text, depth)
	case first == "":
	case begins("#cloud-config"):
		a.cloudConfig(text)
	case begins("content-type:", "mime-version:"):
		a.parts(text, depth)
	case begins("<ns-pre-boot-config", "<?xml"):
		a.netscaler(text)
	case begins("#ns", "#sluice"):
		a.addCommands("user-data", string(text))
	case begins("#!", "#include", "#cloud-boothook", "#part-handler", "## template"):
		a.problem("user-data begins with %s: scripts, templates and inclusions are not run here; give #cloud-config, or commands under a first line #sluice", quoted(first))
	default:
		a.problem("user-data begins with %s: it must begin with #cloud-config, <NS-PRE-BOOT-CONFIG>, or #sluice or #NS before commands", quoted(first))
	}
}

// compressed opens gzip, no further than Largest.
func (a *Answers) compressed(text []byte, depth int) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	var plain []byte
	if err == nil {
		plain, err = io.ReadAll(io.LimitReader(z, Largest+1))
	}
	if err != nil {
		a.problem("user-data is compressed and damaged")
		return
	}
	a.userData(plain, depth+1)
}

// mostParts bounds the parts of an archive.
const mostParts = 32

// parts reads a MIME archive, as tools wrap several pieces of user-data into one.
func (a *Answers) parts(text []byte, depth int) {
	m, err := mail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		a.problem("user-data begins like a MIME archive and is none")
		return
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		a.problem("user-data begins like a MIME archive and has no parts")
		return
	}
	r := multipart.NewReader(m.Body, params["boundary"])
	for n := 1; ; n++ {
		p, err := r.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil || n > mostParts:
			a.problem("part %d of user-data is damaged, or there are more than %d", n, mostParts)
			return
		case strings.EqualFold(p.Header.Get("Content-Transfer-Encoding"), "base64"):
			a.part(n, decode64(p), depth)
		default:
			a.part(n, p, depth)
		}
	}
}

func (a *Answers) part(n int, r io.Reader, depth int) {
	body, err := io.ReadAll(io.LimitReader(r, Largest+1))
	if err != nil {
		a.problem("part %d of user-data is damaged", n)
		return
	}
	a.userData(body, depth+1)
}
