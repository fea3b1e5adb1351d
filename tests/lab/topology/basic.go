package topology

import (
	"fmt"
	"os"
)

// Addresses of the topology basic. The operator's network (192.168.77.0/24) does not pass the dataplane.
const (
	VIP       = "10.1.0.50"
	UDPVIP    = "10.1.0.51"
	ClientIP  = "10.1.0.100"
	ClientNIP = "10.1.0.5" // SNIP on the clients' side
	SNIP      = "10.2.0.5"
	ShellIP   = "192.168.77.1"
)

// Servers of the topology basic, by name.
var Servers = []string{"s1", "s2", "s3"}

// ServerIP is the address of server number i, from 0.
func ServerIP(i int) string { return fmt.Sprintf("10.2.0.%d", 11+i) }

// Basic is the appliance of the topology basic.
func (l *Lab) Basic() *Appliance {
	return &Appliance{Lab: l, Node: "adc", From: "client", Addr: ShellIP,
		Ports: []Port{{"1/1", "da", "tw0"}, {"1/2", "db", "tw1"}}, Workers: l.kind.workers}
}

// basic: a client, the appliance with a port on either side, and three web servers behind a switch.
//
//	client c0 10.1.0.100 ---- da [adc: VIP 10.1.0.50, SNIP 10.2.0.5] db ---- [sw] ---- e0 10.2.0.11-13 s1 s2 s3
//	client m0 192.168.77.2 ---- mg0 192.168.77.1 (shell)
func (l *Lab) basic() error {
	nodes := []Node{{Name: "client"}, {Name: "adc"}, {Name: "sw", Bridge: true}}
	links := []Link{
		{End{Node: "client", If: "c0", Addr: ClientIP + "/24", Full: true}, End{Node: "adc", If: "da"}},
		{End{Node: "client", If: "m0", Addr: "192.168.77.2/24"}, End{Node: "adc", If: "mg0", Addr: ShellIP + "/24"}},
		{End{Node: "sw", If: "p0"}, End{Node: "adc", If: "db"}},
	}
	for i, s := range Servers {
		nodes = append(nodes, Node{Name: s, Routes: []string{"default via " + SNIP}})
		links = append(links, Link{End{Node: s, If: "e0", Addr: ServerIP(i) + "/24", Full: true}, End{Node: "sw", If: fmt.Sprintf("p%d", i+1)}})
	}
	if err := l.wire(nodes, links); err != nil {
		return err
	}
	for i := range Servers {
		if err := l.WebServer(i); err != nil {
			return err
		}
		if err := l.Start(Servers[i], Servers[i]+"-echo", l.program("sluice-lab"), "udp-echo", "0.0.0.0:7", Servers[i]); err != nil {
			return err
		}
	}
	if err := l.Basic().Start(); err != nil {
		return err
	}
	return l.Basic().Ready()
}

// nginxConf: $remote_addr in the log shows whom the server saw.
const nginxConf = `daemon off; worker_processes 1; pid %[1]s/nginx.pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  log_format seen '$remote_addr $remote_port $request_uri $status $bytes_sent';
  access_log %[1]s/access.log seen;
  client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  server {
    listen 80; listen 8080; listen 8081; root %[2]s; default_type text/plain;
    location = / { return 200 "%[3]s\n"; }
    location = /alive { access_log off; return 200 "alive\n"; }
  }
}
`

// WebServer starts nginx as server number i.
func (l *Lab) WebServer(i int) error {
	name := Servers[i]
	dir := l.Path(name)
	if err := os.MkdirAll(l.Path("www"), 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	conf := fmt.Sprintf(nginxConf, dir, l.Path("www"), name)
	if err := os.WriteFile(l.Path(name+"/nginx.conf"), []byte(conf), 0o644); err != nil {
		return err
	}
	return l.Start(name, name+"-nginx", "nginx", "-e", dir+"/error.log", "-c", dir+"/nginx.conf")
}

// BasicScript configures the topology basic as an operator types it.
func BasicScript() string {
	s := `add vlan 2
add ns ip ` + ClientNIP + ` 255.255.255.0
add ns ip ` + SNIP + ` 255.255.255.0
bind vlan 2 -ifnum 1/2
bind vlan 2 -IPAddress ` + SNIP + ` 255.255.255.0
add lb monitor web-check HTTP -respCode 200 -httpRequest "GET /alive" -interval 1 -resptimeout 1 -retries 2 -downTime 1
add lb monitor echo-check PING -interval 1 -resptimeout 1 -retries 2 -downTime 1
add lb vserver web HTTP ` + VIP + ` 80 -lbMethod ROUNDROBIN
add lb vserver echo UDP ` + UDPVIP + ` 7 -lbMethod ROUNDROBIN
`
	for i, n := range Servers {
		s += fmt.Sprintf("add server %s %s\nadd service web-%s %s HTTP 80\nbind service web-%s -monitorName web-check\nbind lb vserver web web-%s\n", n, ServerIP(i), n, n, n, n)
		s += fmt.Sprintf("add service echo-%s %s UDP 7\nbind service echo-%s -monitorName echo-check\nbind lb vserver echo echo-%s\n", n, n, n, n)
	}
	return s
}
