package packet

// CallID finds the value of the Call-ID header field of a SIP message (RFC 3261 20.8), by its long name or its short one, i; nil
// if the message has none that is whole. It looks at nothing behind the header.
func CallID(m []byte) []byte {
	for len(m) > 0 {
		end := 0
		for end < len(m) && m[end] != '\n' {
			end++
		}
		if end == len(m) {
			return nil // the line is cut off
		}
		line := m[:end]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) == 0 {
			return nil // the end of the header
		}
		if v := callID(line); len(v) > 0 {
			return v
		}
		m = m[end+1:]
	}
	return nil
}

// callID is the value of a line that is a Call-ID, without the blanks around it; nil of another line.
func callID(line []byte) []byte {
	const name = "call-id"
	rest := line[1:]
	if line[0]|0x20 != 'i' || len(trim(rest)) == 0 || trim(rest)[0] != ':' {
		if len(line) <= len(name) {
			return nil
		}
		for i := range len(name) {
			if line[i]|0x20 != name[i] { // sets no bit of the dash
				return nil
			}
		}
		rest = line[len(name):]
	}
	if rest = trim(rest); len(rest) == 0 || rest[0] != ':' {
		return nil
	}
	return trim(rest[1:])
}

// trim takes the blanks off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}
