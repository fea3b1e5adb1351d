package grammar

import (
	"strings"
	"testing"
)

// TestDiscreetList: no secret of any of several commands on a line stands in what is logged.
func TestDiscreetList(t *testing.T) {
	for _, line := range []string{
		"show version; add system user bob s3cret",
		"add system user bob s3cret; show version",
		`show version;add system user bob "s3cret; more`,
		`add ns line 5 "set ns rpcNode 10.0.0.1 -password s3cret"; show version`,
		`show version; add ns li 5 "add system user bob s3cret"`,
		"show version; add snmp community s3cret ALL",
		"set ns encryptionParams -method AES256 -keyValue s3cret",
		"add audit syslogAction a 10.0.0.1 -httpAuthToken s3cret",
	} {
		if got := DiscreetList(line); strings.Contains(got, "s3cret") || !strings.Contains(got, "*") {
			t.Errorf("%s: %s", line, got)
		}
	}
	for _, line := range []string{"show version; show lb vserver", "", ";;", `add server "a;b" 10.0.0.1`} {
		if got := DiscreetList(line); got != line {
			t.Errorf("%s: %s", line, got)
		}
	}
}
