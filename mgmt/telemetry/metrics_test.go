package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sluice/dataplane/api"
)

// reading has one of everything, and names as wild as the shell allows.
func reading() *Reading {
	flow := api.FlowStats{ID: 1, Name: "web #:@=-.1", Flows: 7, OpenFlows: 2, PacketsIn: 10, BytesIn: 400, PacketsOut: 20, BytesOut: 9000, Sessions: 3, Spilled: 4, Waiting: 5, StartupLeft: 6}
	gone := flow
	gone.Name = "gone"
	return &Reading{Host: `lb"1`, Release: "0.1", Build: "abc", Started: time.Unix(1000, 0), Degraded: 2, ConfigVersion: 9,
		Vservers: []State{{"web #:@=-.1", "UP"}}, Services: []State{{"s1", "OUT OF SERVICE"}, {"s2", "DOWN"}},
		Expiries: []Expiry{{"certificate", "web", time.Unix(2000, 0)}},
		Routers:  []Router{{ID: 60, Port: "1/1", State: "MASTER", Priority: 75, Transitions: 2, Sent: 100, Received: 7, Gratuitous: 20, Ignored: map[string]uint64{"ttl": 3}}},
		Stats: &api.Stats{StartedUnixMilli: 1500, Buffers: 100, BuffersFree: 90,
			Counters: []api.Counter{{Name: "transmit", Value: 30}, {Name: "drop-no-vserver", Value: 12}},
			Ports:    []api.PortStats{{Name: "1/1", LinkUp: true, RxPackets: 1, RxBytes: 2, TxPackets: 3, TxBytes: 4, RxMissed: 5, RxErrors: 6, TxErrors: 7, TxFull: 8, TwinRxPackets: 9, TwinTxPackets: 10, TwinTxFull: 11}},
			Workers:  []api.WorkerStats{{TotalCycles: 100, BusyCycles: 40, Polls: 5, Packets: 6, Sleeps: 7, Flows: 8, FlowCapacity: 9, HandedOver: 10, TakenOver: 11, Counters: []uint64{30, 12}}},
			Vservers: []api.FlowStats{flow, gone}, Services: []api.FlowStats{{ID: 2, Name: "s1", RecentPackets: 3, RecentBytes: 5}},
			SNIPs: []api.SNIPStats{{ID: 1, IP: netip.MustParseAddr("10.2.0.5"), PortsInUse: 77}}}}
}

// scrape serves the reading and fetches it as Prometheus does.
func scrape(t *testing.T, read func() *Reading) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { _ = Metrics(l, read) }()
	answer, err := http.Get("http://" + l.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%v, %s: %s", err, answer.Status, text)
	}
	return string(text)
}

func TestMetrics(t *testing.T) {
	text := scrape(t, reading)
	for _, want := range []string{
		`sluice_info{build="abc",host="lb\"1",release="0.1"} 1`, "sluice_dataplane_up 1", "sluice_degraded 2", "sluice_config_version 9",
		`sluice_packets_total{reason="drop-no-vserver"} 12`, `sluice_worker_reason_packets_total{reason="drop-no-vserver",worker="0"} 12`,
		`sluice_vserver_state{state="UP",vserver="web #:@=-.1"} 1`, `sluice_vserver_up{vserver="web #:@=-.1"} 1`, `sluice_service_up{service="s1"} 0`,
		`sluice_service_state{service="s1",state="OUT OF SERVICE"} 1`, `sluice_vserver_waiting_connections{vserver="web #:@=-.1"} 5`,
		`sluice_port_lost_packets_total{cause="out-full",port="1/1"} 8`, `sluice_worker_cycles_total{kind="busy",worker="0"} 40`,
		`sluice_snip_ports_in_use{snip="10.2.0.5"} 77`, `sluice_expiry_time_seconds{kind="certificate",name="web"} 2000`,
		`sluice_virtual_router_state{port="1/1",state="MASTER",vrid="60"} 1`, `sluice_virtual_router_ignored_advertisements_total{port="1/1",reason="ttl",vrid="60"} 3`,
		`sluice_vserver_bytes_total{direction="out",vserver="web #:@=-.1"} 9000`, `sluice_service_recent_bytes{service="s1"} 5`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, "gone") {
		t.Error("a vserver is told that is not configured")
	}
	without := scrape(t, func() *Reading { r := reading(); r.Stats = nil; return r })
	if !strings.Contains(without, "sluice_dataplane_up 0\n") || !strings.Contains(without, `sluice_service_up{service="s2"} 0`) {
		t.Errorf("without a dataplane:\n%s", without)
	}
}

// TestPromtool: Prometheus' own linter finds nothing.
func TestPromtool(t *testing.T) {
	for _, r := range []func() *Reading{reading, func() *Reading { return &Reading{} }} {
		check := exec.Command("promtool", "check", "metrics")
		check.Stdin = strings.NewReader(scrape(t, r))
		if out, err := check.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}

// TestMetricsAreBounded: silent clients keep nobody out for longer than they may, and other requests are refused.
func TestMetricsAreBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { _ = Metrics(l, reading) }()
	for range metricsConns {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /metrics HTTP/1.1\r\n") // and no more
	}
	client := http.Client{Timeout: 60 * time.Second}
	answer, err := client.Get("http://" + l.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	for path, want := range map[string]int{"/": 404, "/metrics": 405} {
		method := "GET"
		if path == "/metrics" {
			method = "POST"
		}
		q, _ := http.NewRequest(method, "http://"+l.Addr().String()+path, nil)
		answer, err := client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s %s: %s", method, path, answer.Status)
		}
	}
}
