package schema

// LBMetricTable is a list of what SNMP agents can be asked for, by names.
type LBMetricTable struct {
	Name string `cli:"metricTable" key:"1" max:"31" syntax:"name" help:"Name of the metric table"`
}

// LBMetric is one entry of a metric table.
type LBMetric struct {
	Table  string `cli:"metricTable" key:"1" ref:"lb metricTable" help:"Name of the metric table"`
	Metric string `cli:"metric" key:"2" max:"31" syntax:"name" help:"Name of the metric"`
	OID    string `cli:"snmpOID" pos:"3" also:"bind" required:"yes" max:"255" syntax:"oid" help:"Object that the agent is asked for, a number"`
}

// LBMonitorMetric is a metric that a monitor of type LOAD asks for.
type LBMonitorMetric struct {
	Monitor   string `cli:"monitorName" key:"1" ref:"lb monitor" help:"Name of the monitor, of type LOAD"`
	Metric    string `cli:"metric" key:"2" keyword:"yes" max:"31" syntax:"name" help:"Name of a metric of its metric table"`
	Threshold uint32 `cli:"metricThreshold" only:"bind" help:"A service with a greater value gets new flows only while all are beyond; 0 for none"`
	Weight    uint32 `cli:"metricWeight" only:"bind" min:"1" max:"100" def:"1" help:"What the value is multiplied by in the service's load"`
}

func init() {
	register[LBMetricTable]("lb metricTable", "lb-metric-table", "add rm show", "What SNMP agents can be asked for, for monitors of type LOAD", true)
	register[LBMetric]("lb metricTable", "lb-metric", "bind unbind", "Entry of a metric table", true)
	register[LBMonitorMetric]("lb monitor", "lb-monitor-metric", "bind unbind", "Metric that a monitor of type LOAD asks for", true)
	unbuilt[LBMonitorMetric]("certkeyName")
}
