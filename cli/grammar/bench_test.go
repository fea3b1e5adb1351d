package grammar

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/vendor-config/schema"
)

// deviceLines is a file of so many vservers with four services each, as a device writes it.
func deviceLines(vservers int) []byte {
	var b strings.Builder
	b.WriteString("add ns ip 10.1.0.5 255.255.0.0\nadd ns ip 10.2.0.5 255.255.0.0\n")
	for i := range vservers * 4 {
		fmt.Fprintf(&b, "add server srv%d 10.%d.%d.%d\n", i, 64+i>>16, i>>8&255, i&255)
	}
	for i := range vservers * 4 {
		fmt.Fprintf(&b, "add service svc%d srv%d HTTP 80 -gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport YES -sp OFF -cltTimeout 180 -svrTimeout 360 -CKA NO -TCPB NO -CMP NO\n", i, i)
	}
	for v := range vservers {
		fmt.Fprintf(&b, "add lb vserver v%d HTTP 172.16.%d.%d 80 -persistenceType NONE -cltTimeout 180\n", v, v>>8, v&255)
	}
	for i := range vservers * 4 {
		fmt.Fprintf(&b, "bind lb vserver v%d svc%d\n", i/4, i)
	}
	return []byte(b.String())
}

// BenchmarkImport takes over a file of 100,000 lines.
func BenchmarkImport(b *testing.B) {
	text := deviceLines(100_000 / 13)
	timed(b, func() {
		c := schema.New()
		if im := Import(c, text, Check); im.Count[Applied] != len(im.Lines) {
			b.Fatalf("%v", im.Count)
		}
	})
}

// BenchmarkTab completes a name among 10,000 vservers and 40,000 services.
func BenchmarkTab(b *testing.B) {
	c := schema.New()
	Import(c, deviceLines(10_000), nil)
	for _, head := range []string{"set lb vserver ", "set lb vserver v99", "bind lb vserver v9999 svc", "unbind lb vserver v9999 ", "show service svc39", "set lb vserver v1 -backupVServer v"} {
		b.Run(head, func(b *testing.B) {
			timed(b, func() {
				if list, _ := Complete(head, c); len(list) == 0 {
					b.Fatal("nothing")
				}
			})
		})
	}
}

// spent is the CPU time of the process so far: what a busy machine does not change.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timed reports the CPU time that each turn of the benchmark takes.
func timed(b *testing.B, turn func()) {
	before := spent()
	for b.Loop() {
		turn()
	}
	b.ReportMetric(float64(spent()-before)/1e6/float64(b.N), "cpu-ms/op")
}
