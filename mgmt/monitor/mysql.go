package monitor

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"io"

	"sluice/mgmt/compile"
)

// Capabilities of the MySQL client protocol.
const (
	mysqlLongPassword = 0x1
	mysqlWithDatabase = 0x8
	mysqlProtocol41   = 0x200
	mysqlSecure       = 0x8000
	mysqlPluginAuth   = 0x80000

	mysqlPacketMax = 32 << 10 // bytes of a packet before a server counts as insane
	mysqlRowsMax   = 200      // packets of an answer that are looked at
)

// talkMySQL is a monitor of type MYSQL or MYSQL-ECV: the server must greet; with a userName it must let that user in, to the
// database if one is named; with a sqlQuery it must answer that, and a query that gives rows must give one. Give a userName:
// servers count connections that end in the greeting, and lock out an address that makes too many (max_connect_errors).
func talkMySQL(s *session, p *compile.Probe) (string, error) {
	m := &mysql{session: s}
	g, err := m.greeting()
	switch {
	case err != nil:
		return "", err
	case p.Ask.UserName == "":
		return "MySQL server greets, version " + printable(g.version[:min(len(g.version), 40)]), nil
	}
	if err := m.login(g, p.Ask); err != nil {
		return "", err
	}
	found := "MySQL login completed"
	if p.Ask.SQLQuery != "" {
		if err := m.query(p.Ask.SQLQuery); err != nil {
			return "", err
		}
		found = "MySQL query answered"
	}
	m.next = 0
	m.write([]byte{1}) // COM_QUIT
	return found, nil
}

// mysql is a session with a MySQL server.
type mysql struct {
	*session
	next byte // number of the next packet
}

// read reads one packet.
func (m *mysql) read() ([]byte, error) {
	b, number, err := mysqlPacket(m.in)
	if err == nil && number != m.next {
		err = malformedf("packet %d comes where %d is due", number, m.next)
	}
	m.next = number + 1
	return b, err
}

func mysqlPacket(r *bufio.Reader) (b []byte, number byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, 0, err
	}
	n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if n > mysqlPacketMax {
		return nil, 0, malformedf("a packet is longer than %d bytes", mysqlPacketMax)
	}
	if n == 0 {
		return nil, 0, malformed("a packet is empty")
	}
	b = make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, head[3], err
}

func (m *mysql) write(b []byte) error {
	n := len(b)
	_, err := m.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), m.next}, b...))
	m.next++
	return err
}

// greeting is the first packet of a server.
type greeting struct {
	version, plugin string
	salt            []byte
}

func (m *mysql) greeting() (greeting, error) {
	b, err := m.read()
	if err != nil {
		return greeting{}, err
	}
	return mysqlGreeting(b)
}

// mysqlGreeting parses a handshake packet of version 10.
func mysqlGreeting(b []byte) (g greeting, err error) {
	if b[0] == 0xff {
		return g, mysqlError(b, "MySQL server does not greet")
	}
	if b[0] != 10 {
		return g, malformedf("it greets with protocol version %d, not 10", b[0])
	}
	version, rest, ok := bytes.Cut(b[1:], []byte{0})
	// connection number 4, salt 8, filler 1, capabilities 2, character set 1, status 2, capabilities 2, length of salt 1, filler 10
	if !ok || len(rest) < 31 {
		return g, malformed("its greeting is cut off")
	}
	g.version, g.plugin = string(version), "mysql_native_password"
	g.salt = bytes.Clone(rest[4:12])
	salt, plugin, _ := bytes.Cut(rest[31:], []byte{0})
	g.salt = append(g.salt, salt[:min(len(salt), 12)]...)
	if name, _, _ := bytes.Cut(plugin, []byte{0}); len(name) > 0 {
		g.plugin = string(name)
	}
	return g, nil
}

func (m *mysql) login(g greeting, a *compile.Ask) error {
	proof, known := mysqlProof(g.plugin, a.Password, g.salt)
	if !known {
		g.plugin = "mysql_native_password"
		proof, _ = mysqlProof(g.plugin, a.Password, g.salt)
	}
	flags := uint32(mysqlLongPassword | mysqlProtocol41 | mysqlSecure | mysqlPluginAuth)
	if a.Database != "" {
		flags |= mysqlWithDatabase
	}
	b := binary.LittleEndian.AppendUint32(nil, flags)
	b = binary.LittleEndian.AppendUint32(b, mysqlPacketMax)
	b = append(append(b, 45), make([]byte, 23)...) // utf8mb4
	b = append(append(b, a.UserName...), 0, byte(len(proof)))
	b = append(b, proof...)
	if a.Database != "" {
		b = append(append(b, a.Database...), 0)
	}
	if err := m.write(append(append(b, g.plugin...), 0)); err != nil {
		return err
	}
	return m.admitted(a)
}

// admitted reads what the server says to a login, and does what it still wants.
func (m *mysql) admitted(a *compile.Ask) error {
	what := "MySQL login of user " + a.UserName + " refused"
	for range 4 {
		b, err := m.read()
		if err != nil {
			return err
		}
		switch {
		case b[0] == 0:
			return nil
		case b[0] == 0xff:
			return mysqlError(b, what)
		case b[0] == 1 && len(b) == 2 && b[1] == 3: // caching_sha2_password: the server remembers the password, OK follows
		case b[0] == 1:
			return refusedf("%s: the server wants the password itself (caching_sha2_password); give the user mysql_native_password", what)
		case b[0] == 0xfe:
			name, salt, _ := bytes.Cut(b[1:], []byte{0})
			proof, known := mysqlProof(string(name), a.Password, bytes.TrimSuffix(salt, []byte{0}))
			if !known {
				return refusedf("%s: the server wants the method %.40s, which monitors do not have", what, printable(string(name)))
			}
			if err := m.write(proof); err != nil {
				return err
			}
		default:
			return malformed("it does not answer the login")
		}
	}
	return malformed("its login has no end")
}

// mysqlProof proves that the password is known, by the method of the name.
func mysqlProof(method, password string, salt []byte) (proof []byte, known bool) {
	switch method {
	case "mysql_native_password":
		if password == "" {
			return nil, true
		}
		once := sha1.Sum([]byte(password))
		twice := sha1.Sum(once[:])
		mask := sha1.Sum(append(bytes.Clone(salt), twice[:]...))
		return xored(once[:], mask[:]), true
	case "caching_sha2_password":
		if password == "" {
			return nil, true
		}
		once := sha256.Sum256([]byte(password))
		twice := sha256.Sum256(once[:])
		mask := sha256.Sum256(append(bytes.Clone(twice[:]), salt...))
		return xored(once[:], mask[:]), true
	}
	return nil, false
}

func xored(a, b []byte) []byte {
	for i := range a {
		a[i] ^= b[i]
	}
	return a
}

// query sends a query and reads the answer up to its first row.
func (m *mysql) query(text string) error {
	m.next = 0
	if err := m.write(append([]byte{3}, text...)); err != nil { // COM_QUERY
		return err
	}
	b, err := m.read()
	switch {
	case err != nil:
		return err
	case b[0] == 0:
		return nil
	case b[0] == 0xff:
		return mysqlError(b, "MySQL query refused")
	case b[0] == 0xfb || b[0] == 0xfe:
		return malformed("it asks for a file of ours")
	}
	for ends, packets := 0, 0; packets < mysqlRowsMax; packets++ {
		if b, err = m.read(); err != nil {
			return err
		}
		switch {
		case b[0] == 0xff:
			return mysqlError(b, "MySQL query refused")
		case b[0] == 0xfe && len(b) < 9: // the end of the columns, then that of the rows
			if ends++; ends == 2 {
				return refusedf("MySQL query gives no row")
			}
		case ends == 1:
			return nil
		}
	}
	return malformedf("it has more than %d columns", mysqlRowsMax)
}

// mysqlError is what an error packet says.
func mysqlError(b []byte, what string) error {
	if len(b) < 3 {
		return malformed("its error is cut off")
	}
	text := b[3:]
	if len(text) >= 6 && text[0] == '#' { // with an SQL state of five characters
		text = text[6:]
	}
	return refusedf("%s: %.100s (error %d)", what, printable(string(text[:min(len(text), 100)])), binary.LittleEndian.Uint16(b[1:]))
}
