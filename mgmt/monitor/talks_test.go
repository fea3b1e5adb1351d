package monitor

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sluice/mgmt/compile"
)

// scripted is a server of a protocol of lines: it says what comes first, then for each line that it hears what stands behind
// that line's beginning; to others it says no.
func scripted(t *testing.T, greeting, no string, lines ...string) netip.AddrPort {
	return listen(t, func(c net.Conn) {
		io.WriteString(c, greeting)
		r := bufio.NewReader(c)
		for {
			heard, err := r.ReadString('\n')
			if err != nil {
				return
			}
			said := no
			for i := 0; i < len(lines); i += 2 {
				if strings.HasPrefix(heard, lines[i]) {
					said = lines[i+1]
				}
			}
			io.WriteString(c, said)
		}
	})
}

func TestFTP(t *testing.T) {
	noLeaks(t)
	login := []string{"USER probe\r\n", "331 Password\r\n", "PASS secret\r\n", "230-Hello\r\n Here you are\r\n230 Done\r\n"}
	user := func(name, password string) *compile.Ask { return &compile.Ask{UserName: name, Password: password} }
	judge(t, []judged{
		{"greets", "FTP", scripted(t, "220 ready\r\n", "500 no\r\n"), &compile.Ask{}, true, "Success - FTP server greets."},
		{"greets at length", "FTP", scripted(t, "220-This is\r\n220 not the end\r\n", "500 no\r\n"), &compile.Ask{}, true, "Success - FTP server greets."},
		{"greets later", "FTP", scripted(t, "120 in 2 minutes\r\n220 ready\r\n", "500 no\r\n"), &compile.Ask{}, true, "Success - FTP server greets."},
		{"lets in", "FTP", scripted(t, "220 ready\r\n", "500 no\r\n", login...), user("probe", "secret"), true, "Success - FTP login completed."},
		{"lets in without a password", "FTP", scripted(t, "220 ready\r\n", "500 no\r\n", "USER", "230 in\r\n"), user("probe", ""), true, "Success - FTP login completed."},
		{"does not let in", "FTP", scripted(t, "220 ready\r\n", "530 Login incorrect.\r\n", login...), user("probe", "wrong"), false,
			"Failure - FTP login of user probe refused: 530 Login incorrect."},
		{"is full", "FTP", scripted(t, "421 too many users\r\n", ""), user("probe", "secret"), false, "Failure - FTP server does not greet: 421 too many users."},
		{"no FTP", "FTP", scripted(t, "+OK ready\r\n", ""), &compile.Ask{}, false, `Failure - no valid FTP response: it is "+OK ready" in place of a code and a text.`},
	})
}

func TestSMTP(t *testing.T) {
	noLeaks(t)
	judge(t, []judged{
		{"answers EHLO", "SMTP", scripted(t, "220 mail\r\n", "500 no\r\n", "EHLO [127.0.0.5]\r\n", "250-mail\r\n250-PIPELINING\r\n250 HELP\r\n"), &compile.Ask{}, true, "Success - SMTP server greets."},
		{"answers HELO only", "SMTP", scripted(t, "220 mail\r\n", "500 no\r\n", "HELO [127.0.0.5]\r\n", "250 mail\r\n"), &compile.Ask{}, true, "Success - SMTP server greets."},
		{"answers neither", "SMTP", scripted(t, "220 mail\r\n", "502 not now\r\n"), &compile.Ask{}, false, "Failure - SMTP server does not answer HELO: 502 not now."},
		{"is not open", "SMTP", scripted(t, "554 no SMTP here\r\n", ""), &compile.Ask{}, false, "Failure - SMTP server does not greet: 554 no SMTP here."},
		{"hides control characters", "SMTP", scripted(t, "554 \x1b[2J\x07\r\n", ""), &compile.Ask{}, false, "Failure - SMTP server does not greet: 554 ?[2J?."},
	})
}

func TestPOP3(t *testing.T) {
	noLeaks(t)
	user := func(name, password string) *compile.Ask { return &compile.Ask{UserName: name, Password: password} }
	login := []string{"USER probe\r\n", "+OK\r\n", "PASS secret\r\n", "+OK logged in\r\n"}
	judge(t, []judged{
		{"greets", "POP3", scripted(t, "+OK ready\r\n", "-ERR\r\n"), &compile.Ask{}, true, "Success - POP3 server greets."},
		{"lets in", "POP3", scripted(t, "+OK ready\r\n", "-ERR\r\n", login...), user("probe", "secret"), true, "Success - POP3 login completed."},
		{"does not let in", "POP3", scripted(t, "+OK ready\r\n", "-ERR [AUTH] failed\r\n", login...), user("probe", "wrong"), false,
			"Failure - POP3 login of user probe refused: [AUTH] failed."},
		{"does not greet", "POP3", scripted(t, "-ERR busy\r\n", ""), &compile.Ask{}, false, "Failure - POP3 server does not greet: busy."},
		{"no POP3", "POP3", scripted(t, "220 ready\r\n", ""), &compile.Ask{}, false, `Failure - no valid POP3 response: it is "220 ready" in place of +OK or -ERR.`},
	})
}

// mysqlHello is the greeting of a server of MariaDB.
var mysqlHello = append([]byte("\x0a11.4.2-MariaDB\x00\x01\x00\x00\x0012345678\x00\xff\xf7\x2d\x02\x00\xff\x81\x15\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
	[]byte("abcdefghijkl\x00mysql_native_password\x00")...)

// mysqlServer says the packets of each turn when the client has spoken.
func mysqlServer(t *testing.T, turns ...[]string) netip.AddrPort {
	return listen(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		number := byte(0)
		for i, turn := range turns {
			if i > 0 {
				_, n, err := mysqlPacket(r)
				if err != nil {
					return
				}
				number = n + 1
			}
			for _, p := range turn {
				c.Write(append([]byte{byte(len(p)), byte(len(p) >> 8), 0, number}, p...))
				number++
			}
		}
		drain(c)
	})
}

func TestMySQL(t *testing.T) {
	noLeaks(t)
	const ok, end = "\x00\x00\x00\x02\x00\x00\x00", "\xfe\x00\x00\x02\x00"
	hello := []string{string(mysqlHello)}
	user := &compile.Ask{UserName: "probe", Password: "secret", Database: "shop"}
	query := &compile.Ask{UserName: "probe", SQLQuery: "SELECT 1"}
	judge(t, []judged{
		{"greets", "MYSQL", mysqlServer(t, hello), &compile.Ask{}, true, "Success - MySQL server greets, version 11.4.2-MariaDB."},
		{"is locked", "MYSQL", mysqlServer(t, []string{"\xff\x69\x04Host is blocked"}), &compile.Ask{}, false, "Failure - MySQL server does not greet: Host is blocked (error 1129)."},
		{"is old", "MYSQL", mysqlServer(t, []string{"\x09 3.20"}), &compile.Ask{}, false, "Failure - no valid MySQL response: it greets with protocol version 9, not 10."},
		{"lets in", "MYSQL", mysqlServer(t, hello, []string{ok}), user, true, "Success - MySQL login completed."},
		{"lets in by another method", "MYSQL", mysqlServer(t, hello, []string{"\xfecaching_sha2_password\x0012345678901234567890\x00"}, []string{"\x01\x03", ok}), user, true, "Success - MySQL login completed."},
		{"wants the password itself", "MYSQL", mysqlServer(t, hello, []string{"\xfecaching_sha2_password\x0012345678901234567890\x00"}, []string{"\x01\x04"}), user, false,
			"Failure - MySQL login of user probe refused: the server wants the password itself (caching_sha2_password); give the user mysql_native_password."},
		{"wants what we have not", "MYSQL", mysqlServer(t, hello, []string{"\xfedialog\x00x"}), user, false,
			"Failure - MySQL login of user probe refused: the server wants the method dialog, which monitors do not have."},
		{"does not let in", "MYSQL", mysqlServer(t, hello, []string{"\xff\x15\x04#28000Access denied"}), user, false,
			"Failure - MySQL login of user probe refused: Access denied (error 1045)."},
		{"answers", "MYSQL-ECV", mysqlServer(t, hello, []string{ok}, []string{"\x01", "\x03def", end, "\x011", end}), query, true, "Success - MySQL query answered."},
		{"does without rows", "MYSQL-ECV", mysqlServer(t, hello, []string{ok}, []string{ok}), query, true, "Success - MySQL query answered."},
		{"has no row", "MYSQL-ECV", mysqlServer(t, hello, []string{ok}, []string{"\x01", "\x03def", end, end}), query, false, "Failure - MySQL query gives no row."},
		{"wants a file", "MYSQL-ECV", mysqlServer(t, hello, []string{ok}, []string{"\xfb/etc/passwd"}), query, false, "Failure - no valid MySQL response: it asks for a file of ours."},
		{"refuses", "MYSQL-ECV", mysqlServer(t, hello, []string{ok}, []string{"\xff\x7a\x04#42S02No such table"}), query, false, "Failure - MySQL query refused: No such table (error 1146)."},
		{"counts wrongly", "MYSQL", listen(t, func(c net.Conn) { c.Write([]byte("\x01\x00\x00\x05\x0a")); drain(c) }), user, false,
			"Failure - no valid MySQL response: packet 5 comes where 0 is due."},
	})
	if p, ok := mysqlProof("mysql_native_password", "secret", []byte("12345678abcdefghijkl")); !ok || fmt.Sprintf("%x", p) == "" || len(p) != 20 {
		t.Errorf("proof %x", p)
	}
}

// speech is a connection on which a server has said everything that it will say.
type speech struct {
	io.Reader
	net.Conn
}

func (s speech) Read(b []byte) (int, error)  { return s.Reader.Read(b) }
func (s speech) Write(b []byte) (int, error) { return len(b), nil }
func (s speech) SetDeadline(time.Time) error { return nil }

// FuzzTalks: whatever a server says, each conversation ends, in a sentence or an error, without reading on for ever.
func FuzzTalks(f *testing.F) {
	f.Add("220 ready\r\n331 x\r\n230 y\r\n")
	f.Add("220-a\r\n220 b\r\n250-c\r\n250 d\r\n")
	f.Add("+OK\r\n+OK\r\n+OK\r\n")
	f.Add(string(append([]byte{byte(len(mysqlHello)), 0, 0, 0}, mysqlHello...)) + "\x07\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x01\x01")
	f.Add("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00\x30\x0c\x02\x01\x02\x64\x07\x04\x01x\x30\x02\x30\x00")
	f.Add("\x00\x0c\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	ask := &compile.Ask{UserName: "u", Password: "p", Filter: "(a=b)", Attribute: "x", Database: "d", SQLQuery: "q", Query: "a.example"}
	f.Fuzz(func(t *testing.T, said string) {
		for kind, k := range talks {
			s := &session{Conn: speech{Reader: strings.NewReader(said)}, left: answerMax, what: k.what}
			s.in = bufio.NewReaderSize((*limited)(s), 4096)
			found, err := k.talk(s, &compile.Probe{Ask: ask})
			if err == nil && found == "" {
				t.Errorf("%s: neither a sentence nor an error", kind)
			}
			if err != nil {
				if o := answerFailure(&compile.Probe{}, k.what, err); o.OK || len(o.Response) > 400 || strings.ContainsAny(o.Response, "\r\n\x00\x1b") {
					t.Errorf("%s: %q", kind, o.Response)
				}
			}
		}
	})
}

func TestReadReply(t *testing.T) {
	for text, want := range map[string]string{
		"220 a\r\n":                        "220 a",
		"220\r\n":                          "220 ",
		"220-a\r\nb\r\n221 c\r\n220 d\r\n": "220 d",
		"220-a\r\n220-b\r\n220\r\n":        "220 ",
		"220-a\r\n":                        "EOF",
		"220 a\n":                          "CR LF",
		"22 a\r\n":                         "in place of",
		"620 a\r\n":                        "in place of",
		"2200 a\r\n":                       "in place of",
		"220" + strings.Repeat("x", textLineMax) + "\r\n": "longer",
	} {
		r, err := readReply(bufio.NewReader(strings.NewReader(text)))
		got := fmt.Sprint(r.code, " ", r.text)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%.30q: %s, want %s", text, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got := printable("a\x00\r\n\x7f\xffé"); got != "a?????é" {
		t.Error(got)
	}
	if !bytes.Contains([]byte(printable("ok")), []byte("ok")) {
		t.Error("text is changed")
	}
}
