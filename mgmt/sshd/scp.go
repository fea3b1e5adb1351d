package sshd

import (
	"io"
	"strings"
)

// legacyAnswer names the way out to who copies by the protocol that scp spoke before it spoke SFTP.
const legacyAnswer = "ERROR: Feature not supported in this release [scp -O]: copy by SFTP, which scp of OpenSSH 9 speaks without -O, that of 8.7 with -s, and sftp always"

// legacy tells whether a command is what clients of that protocol have the other side run: scp as the sink (-t) or the source (-f).
func legacy(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 || words[0] != "scp" && !strings.HasSuffix(words[0], "/scp") {
		return false
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") || w == "--" {
			break
		}
		if strings.ContainsAny(w, "tf") {
			return true
		}
	}
	return false
}

// refuseLegacy answers in the client's protocol, where 2 begins the message of a failure that ends everything: written beside it, it
// would be followed by complaints of the client's own.
func refuseLegacy(out io.Writer) int {
	_, _ = io.WriteString(out, "\x02"+legacyAnswer+"\n")
	return 1
}
