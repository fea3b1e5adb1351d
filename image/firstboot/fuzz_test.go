package firstboot

import (
	"strings"
	"testing"
	"unicode"

	"sluice/image/record"
)

// sound checks what must hold whatever came in: what is written into files and on the console is clean, and the record can be read again.
func sound(t *testing.T, a *Answers) {
	t.Helper()
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\t' }
	if text := a.Configuration(); strings.Count(text, "\n") > len(a.Commands)+20 || strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		t.Errorf("configuration %q", text)
	}
	for _, p := range a.Problems {
		if strings.ContainsFunc(p, control) {
			t.Errorf("problem %q", p)
		}
	}
	if len(a.Problems) > mostProblems+1 || len(a.Keys) > mostKeys {
		t.Errorf("%d problems, %d keys", len(a.Problems), len(a.Keys))
	}
	a.Password = "" // its hash costs time
	r := &record.Record{}
	if err := a.Record(r); err != nil {
		t.Error(err)
	}
	if (a.PasswordHash != "" || len(a.Keys) > 0) != r.Reachable() {
		t.Errorf("%+v gives %+v", a, r)
	}
}

func FuzzNoCloud(f *testing.F) {
	f.Add(seed(f, "user-data", ""), seed(f, "meta-data", ""), seed(f, "network-config-v2", ""))
	f.Add(seed(f, "userdata", ""), []byte(nil), seed(f, "network-config-v1", ""))
	f.Add([]byte("#sluice\nset system user nsroot -password \"a \\\" b\" -timeout 3\n"), []byte("&a [*a]"), []byte("network: {version: 2}"))
	f.Add([]byte("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n#sluice\n--x--\n"), []byte("public-keys: [a]"), []byte(""))
	f.Add([]byte("\x1f\x8b\x08"), []byte("instance-id: [1]"), []byte("version: 1\nconfig: [{type: bond}]"))
	f.Fuzz(func(t *testing.T, user, meta, network []byte) { sound(t, NoCloud(Files{user, meta, network})) })
}

func FuzzNetScaler(f *testing.F) {
	f.Add(seed(f, "userdata", ""))
	f.Add([]byte("<NS-PRE-BOOT-CONFIG><NS-CONFIG><![CDATA[add server a 1.2.3.4]]></NS-CONFIG><NS-BOOTSTRAP/></NS-PRE-BOOT-CONFIG>"))
	f.Add([]byte("<ns-pre-boot-config a='b'></NS-PRE-BOOT-CONFIG x</ns-pre-boot-config >"))
	f.Fuzz(func(t *testing.T, text []byte) { sound(t, NetScaler(text)) })
}

func FuzzOVF(f *testing.F) {
	f.Add(seed(f, "ovf-env.xml", ""))
	f.Add([]byte("<Environment xmlns='http://schemas.dmtf.org/ovf/environment/1'><Property key='a.hostname' value='&#27;'/></Environment>"))
	f.Fuzz(func(t *testing.T, text []byte) { sound(t, OVF(text)) })
}

func FuzzSMBIOS(f *testing.F) {
	f.Add(structure("org.sluice.hostname=a", "x", "org.sluice.ip=1.2.3.4/5"))
	f.Add([]byte{11, 4, 0, 0, 1})
	f.Fuzz(func(t *testing.T, raw []byte) { sound(t, SMBIOS(raw)) })
}
