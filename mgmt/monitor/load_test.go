package monitor

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"sluice/mgmt/compile"
)

func TestLOAD(t *testing.T) {
	noLeaks(t)
	ask := &compile.Ask{Community: "public", Metrics: []compile.Metric{{Name: "cpu", OID: "1.3.1", Weight: 3, Threshold: 90}, {Name: "users", OID: "1.3.2", Weight: 1}}}
	for _, row := range []struct {
		target netip.AddrPort
		ask    *compile.Ask
		want   Outcome
	}{
		{agent(t, 0, berNumber(snmpGauge32, 20), berNumber(berInteger, 5)), ask, Outcome{OK: true, Response: "Success - SNMP load 65 received.", Load: 65, LoadKnown: true}},
		{agent(t, 0, berNumber(snmpGauge32, 91), berNumber(berInteger, 5)), ask,
			Outcome{OK: true, Response: "Success - SNMP load received, cpu is above its threshold.", Load: math.MaxUint32, LoadKnown: true}},
		{agent(t, 0, berNumber(snmpGauge32, 20), ber(snmpNoInstance)), ask, Outcome{Response: "Failure - SNMP agent has no such object as 1.3.2."}},
		{agent(t, 0), &compile.Ask{}, Outcome{Unsent: true, Response: "Failure - no metric is bound to the monitor: bind lb monitor m -metric."}},
	} {
		p := compile.Probe{Type: "LOAD", Monitor: "m", Target: row.target, Ask: row.ask}
		if o := probeAtLength(t, &p); o != row.want {
			t.Errorf("%+v, want %+v", o, row.want)
		}
	}
	if load, above := loadOf([]compile.Metric{{Weight: 100}, {Weight: 1}}, []int64{math.MaxInt64, -5}); load != math.MaxUint32-1 || above != "" {
		t.Error(load, above)
	}
}

// TestLoadIsForgotten: a load holds through single failures and is not known any more when the monitor gives the service up.
func TestLoadIsForgotten(t *testing.T) {
	w := newWatch(base())
	now := time.Unix(1000, 0)
	w.record(Outcome{OK: true, Load: 7, LoadKnown: true}, now, now)
	for i, known := range []bool{true, true, false} {
		w.record(Outcome{}, now, now)
		if w.result.LoadKnown != known {
			t.Errorf("after %d failures the load is known: %v", i+1, w.result.LoadKnown)
		}
	}
}
