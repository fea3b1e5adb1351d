package grammar

import "sluice/vendor-config/schema"

// checkMetric: a metric is one of the monitor's table.
func checkMetric(c *schema.Config, b *schema.LBMonitorMetric) error {
	m := schema.MonitorNamed(c, b.Monitor)
	switch {
	case m == nil:
		return schema.Refuse(schema.NoSuchRow, "monitorName", b.Monitor)
	case m.Type != "LOAD":
		return schema.Refuse(schema.BadArgument, "monitorName", m.Name).Because("metrics are for monitors of type LOAD, and this one is of type " + m.Type)
	case schema.Get[schema.LBMetric](c, m.MetricTable, b.Metric) == nil:
		return schema.Refuse(schema.NoSuchRow, "metric", b.Metric).Because("lb metricTable " + m.MetricTable + " has no such metric")
	}
	return nil
}

// metricsStay: another table of a monitor has the metrics that are bound to it.
func metricsStay(c *schema.Config, m *schema.LBMonitor) error {
	for row := range c.Each(schema.Of[schema.LBMonitorMetric]()) {
		if b := row.(*schema.LBMonitorMetric); b.Monitor == m.Name && schema.Get[schema.LBMetric](c, m.MetricTable, b.Metric) == nil {
			return schema.Refuse(schema.RowInUse, b.Metric).Because("it is bound to lb monitor " + m.Name + " and lb metricTable " + m.MetricTable + " lacks it; unbind it first")
		}
	}
	return nil
}

func metricTableInUse(c *schema.Config, t *schema.LBMetricTable) error {
	for row := range c.Each(schema.Of[schema.LBMonitor]()) {
		if m := row.(*schema.LBMonitor); m.MetricTable == t.Name {
			return schema.Refuse(schema.RowInUse, t.Name).Because("lb monitor " + m.Name + " has it")
		}
	}
	return nil
}

func metricInUse(c *schema.Config, e *schema.LBMetric) error {
	for row := range c.Each(schema.Of[schema.LBMonitorMetric]()) {
		b := row.(*schema.LBMonitorMetric)
		if m := schema.Get[schema.LBMonitor](c, b.Monitor); m != nil && m.MetricTable == e.Table && b.Metric == e.Metric {
			return schema.Refuse(schema.RowInUse, e.Metric).Because("it is bound to lb monitor " + m.Name)
		}
	}
	return nil
}
