package grammar

import (
	"strings"
	"testing"
)

func TestAuditSyslog(t *testing.T) {
	base := []string{"add audit syslogAction a 192.0.2.1 -logLevel ALL -logFacility LOCAL3 -tcp NONE -acl DISABLED -timeZone LOCAL_TIME -transport TCP",
		"add audit syslogAction b logs.example.com -logLevel error critical -transport TLS -caCertFile ca.pem -certName logs.example.com",
		"add audit syslogPolicy p ns_true a", "add audit syslogPolicy q true b", "bind audit syslogGlobal -policyName p -priority 10", "bind system global q -priority 20",
		"set audit syslogParams -serverIP 192.0.2.9 -logLevel NONE"}
	c := configOf(t, base...)
	readBack(t, c)
	for line, want := range map[string]string{
		"add audit syslogAction x -logLevel ALL":                                                  "Required argument missing [serverIP]",
		"add audit syslogAction x 192.0.2.1":                                                      "Required argument missing [logLevel]",
		"add audit syslogAction x 192.0.2.1 -logLevel LOUD":                                       "Invalid value [logLevel, LOUD]: LOUD is none of",
		"add audit syslogAction x 192.0.2.1 -logLevel ALL ERROR":                                  "Invalid value [logLevel, ALL ERROR]: ALL stands alone",
		"add audit syslogAction x 192.0.2.1 -logLevel ERROR ERROR":                                "Invalid value [logLevel, ERROR ERROR]",
		"add audit syslogAction x 224.0.0.1 -logLevel ALL":                                        "Invalid IP address [serverIP, 224.0.0.1]",
		"add audit syslogAction x 192.0.2.1 -logLevel ALL -transport SCTP":                        "Invalid value [transport, SCTP]",
		"add audit syslogAction x 192.0.2.1 -logLevel ALL -serverPort 0":                          "Argument value out of range",
		"add audit syslogAction x 192.0.2.1 -logLevel ALL -caCertFile ca.pem":                     "Argument pre-requisite missing",
		"add audit syslogAction x 192.0.2.1 -logLevel ALL -transport TLS -caCertFile /etc/shadow": "Invalid value [caCertFile",
		"add audit syslogAction x 192.0.2.1 -logLevel ALL -tcp ALL":                               "Feature not supported in this release [tcp, ALL]",
		"add audit syslogAction a 192.0.2.2 -logLevel ALL":                                        "Resource already exists",
		"set audit syslogAction b -transport UDP":                                                 "No such argument",
		"rm audit syslogAction a":                                                                 "Resource is in use [a]: it is the action of audit syslogPolicy p",
		"rm audit syslogPolicy p":                                                                 "Resource is in use [p]: it is bound to audit syslogGlobal",
		"rm audit syslogPolicy q":                                                                 "Resource is in use [q]",
		"add audit syslogPolicy r CLIENT.IP.SRC.EQ(1.2.3.4) a":                                    "Invalid value [rule",
		"add audit syslogPolicy r ns_true z":                                                      "No such resource [action, z]",
		"bind audit syslogGlobal -policyName z -priority 1":                                       "No such resource [policyName, z]",
		"bind system global z":                                                                    "No such resource [policyName, z]",
	} {
		if _, err := do(c, line); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	for _, line := range []string{"unbind audit syslogGlobal -policyName p", "unbind system global q", "rm audit syslogPolicy p q", "rm audit syslogAction a b", "unset audit syslogParams -serverIP -logLevel"} {
		var err error
		if c, err = do(c, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if got := Lines(c); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}
