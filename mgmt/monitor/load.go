package monitor

import (
	"context"
	"math"

	"sluice/mgmt/compile"
)

// CheckLOAD is a monitor of type LOAD: the load of the service is the sum of the values that its SNMP agent gives for the metrics,
// each times its weight, or the greatest that there is when one is above its threshold. It says how busy a service is and not
// whether it is up.
func CheckLOAD(ctx context.Context, p *compile.Probe) Outcome {
	if len(p.Ask.Metrics) == 0 {
		return unsent("no metric is bound to the monitor: bind lb monitor %s -metric", p.Monitor)
	}
	oids := make([]string, len(p.Ask.Metrics))
	for i, m := range p.Ask.Metrics {
		oids[i] = m.OID
	}
	values, o := snmpAsk(ctx, p, oids)
	if values == nil {
		return o
	}
	load, above := loadOf(p.Ask.Metrics, values)
	o = success("SNMP load %d received", load)
	if above != "" {
		o = success("SNMP load received, %s is above its threshold", above)
	}
	o.Load, o.LoadKnown = load, true
	return o
}

// loadOf adds up values, saturated. above is the first metric beyond its threshold.
func loadOf(metrics []compile.Metric, values []int64) (load uint32, above string) {
	sum := uint64(0)
	for i, m := range metrics {
		v := uint64(min(max(values[i], 0), math.MaxUint32))
		if m.Threshold > 0 && v > uint64(m.Threshold) {
			return math.MaxUint32, m.Name
		}
		sum = min(sum+v*uint64(m.Weight), math.MaxUint32-1)
	}
	return uint32(sum), ""
}
