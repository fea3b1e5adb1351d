package grammar

import (
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// TestMaskedLines: what show ns runningConfig has told is read back as what it was by who has the secrets, and by nobody else.
func TestMaskedLines(t *testing.T) {
	c := configOf(t, "add lb monitor m FTP -userName u -password geheim1", "add system user bob geheim2", "add snmp community geheim3 GET",
		"add snmp community geheim4 ALL", "add snmp trap generic 10.0.0.1 -communityName geheim5", "add lb monitor s SNMP -snmpOID 1.3 -snmpCommunity geheim6")
	Import(c, []byte("set foo x -password geheim7\nadd vpn user y -secret geheim8"), nil)
	shown := strings.Join(Shown(c), "\n")
	if strings.Contains(shown, "geheim") || strings.Count(shown, schema.Hidden) != 8 {
		t.Fatalf("secrets are not hidden:\n%s", shown)
	}
	again := c.Clone()
	if im := Import(again, []byte(shown), nil); im.Count[Rejected] > 0 || !again.Equal(c) {
		t.Errorf("merged with itself it is another: %+v", im.Lines)
	}
	fresh := schema.New()
	if im := ImportAs(c, fresh, []byte(shown), nil); im.Count[Rejected] > 0 || !slices.Equal(Lines(fresh), Lines(c)) {
		t.Errorf("alone it is another: %+v\n%s", im.Lines, strings.Join(Lines(fresh), "\n"))
	}
	alone := schema.New()
	im := Import(alone, []byte(shown), nil)
	for _, v := range im.Lines {
		if strings.Contains(v.Text, schema.Hidden) && (v.Fate != Rejected || !strings.Contains(v.Reason, "give the secret itself")) {
			t.Errorf("%s: %s: %s", v.Text, v.Fate, v.Reason)
		}
	}
	if text := strings.Join(Lines(alone), "\n"); strings.Contains(text, schema.Hidden) {
		t.Errorf("a mask is taken for a secret:\n%s", text)
	}
	// Two that look alike once they are hidden are told apart by nobody.
	Import(c, []byte("add foo x -password a\nadd foo x -password b"), nil)
	if im := Import(c.Clone(), []byte("add foo x -password ********"), nil); im.Count[Rejected] != 1 {
		t.Errorf("%+v", im.Lines)
	}
}

// TestCommunitiesAreHidden: in logs, errors, completion and lists.
func TestCommunitiesAreHidden(t *testing.T) {
	for line, want := range map[string]string{
		"add snmp community geheim ALL":            "add snmp community ******** ALL",
		"rm snmp community geheim":                 "rm snmp community ********",
		"rm snmp comm geheim":                      "rm snmp comm ********",
		"rm snmp community a geheim":               "rm snmp community ******** ********",
		"show snmp community geheim":               "show snmp community ********",
		"add snmp comunity geheim ALL":             "add snmp comunity ******** ********",
		"add lb monitor m SNMP -snmpComm geheim":   "add lb monitor m SNMP -snmpComm ********",
		"add snmp trap generic 10.0.0.1 -commun x": "add snmp trap generic 10.0.0.1 -commun ********",
	} {
		if got := Discreet(line); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", line, got, want)
		}
	}
	c := configOf(t, "add snmp community geheim ALL")
	for _, line := range []string{"add snmp community geheim GET", "rm snmp community geheimnis"} {
		op, err := Parse(line)
		if err == nil {
			err = op.Apply(c.Clone())
		}
		if err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, head := range []string{"rm snmp community ", "show snmp community ", "rm snmp community ge"} {
		all, _ := Complete(head, c)
		for _, a := range all {
			if strings.Contains(a.Text, "geheim") {
				t.Errorf("%s: completion tells %s", head, a.Text)
			}
		}
	}
	if name := RowName(schema.Of[schema.SNMPCommunity](), schema.All[schema.SNMPCommunity](c)[0]); strings.Contains(name, "geheim") {
		t.Error(name)
	}
}
