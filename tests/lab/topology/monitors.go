package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Addresses of the topology monitors. Its servers share one address, and a liar has another.
const (
	WatchedIP = "10.2.0.11"
	LiarIP    = "10.2.0.12"
)

// Watched are the types of monitors in the topology monitors: the port of a real server for each (0: an address is enough), and
// what its monitor asks that server. For each with a port there is a second service, named with "lying-" before it, whose
// server says nothing that makes sense; the monitor asks it the same.
var Watched = []struct {
	Type string
	Port int
	Asks string
}{
	{"PING", 0, ""},
	{"ARP", 0, ""},
	{"HTTP", 80, `-httpRequest "GET /alive"`},
	{"HTTP-ECV", 80, `-send "GET /alive" -recv alive`},
	{"TCP-ECV", 80, `-send "GET /alive HTTP/1.0\r\n\r\n" -recv alive`},
	{"UDP-ECV", 7, "-send hello -recv srv"},
	{"DNS", 53, "-query www.example.com -IPAddress 10.0.0.1"},
	{"DNS-TCP", 53, "-query example.com -queryType Zone"},
	{"FTP", 21, "-userName anonymous -password probe@example.com"},
	{"SMTP", 25, ""},
	{"POP3", 110, "-userName probe -password lab-secret"},
	{"LDAP", 389, `-baseDN "dc=example,dc=com" -bindDN "cn=probe,dc=example,dc=com" -password lab-secret -filter "(&(o=l*b)(dc=example))" -attribute o`},
	{"RADIUS", 1812, "-userName probe -password lab-secret -radKey lab-key -radNASid adc"},
	{"MYSQL", 3306, "-userName probe -password lab-secret"},
	{"MYSQL-ECV", 3306, `-userName probe -password lab-secret -sqlQuery "SELECT 1"`},
	{"USER", 80, "-scriptName get.sh -scriptArgs alive"},
	{"SNMP", 161, "-snmpOID 1.3.6.1.2.1.1.3.0"},
}

// MonitorsScript configures the topology monitors as an operator types it.
func MonitorsScript() string {
	var b strings.Builder
	b.WriteString("add ns ip " + SNIP + " 255.255.255.0\nadd server srv " + WatchedIP + "\nadd server liar " + LiarIP + "\n")
	for i, w := range Watched {
		fmt.Fprintf(&b, "add lb monitor m-%s %[1]s %s -interval 2 -resptimeout 2 -retries 1 -downTime 1", w.Type, w.Asks)
		if w.Port != 0 {
			fmt.Fprintf(&b, " -destPort %d", w.Port)
		}
		fmt.Fprintf(&b, "\nadd service %s srv TCP %d\nbind service %[1]s -monitorName m-%[1]s\n", w.Type, 1000+i)
		if w.Port != 0 {
			fmt.Fprintf(&b, "add service lying-%s liar TCP %d\nbind service lying-%[1]s -monitorName m-%[1]s\n", w.Type, 1000+i)
		}
	}
	b.WriteString(`add lb metricTable host
bind lb metricTable host uptime 1.3.6.1.2.1.1.3.0
bind lb metricTable host processes 1.3.6.1.2.1.25.1.6.0
add lb monitor m-LOAD LOAD -metricTable host -snmpVersion V2 -interval 2 -resptimeout 2
bind lb monitor m-LOAD -metric uptime -metricWeight 2
add service LOAD srv TCP 80
bind service LOAD -monitorName m-LOAD
`)
	return b.String()
}

// Monitors is the appliance of the topology monitors.
func (l *Lab) Monitors() *Appliance {
	return &Appliance{Lab: l, Node: "adc", From: "client", Addr: ShellIP, Ports: []Port{{"1/1", "da", "tw0"}}, Workers: 1}
}

// monitors: the appliance, real servers of every protocol that monitors speak on one host, and a liar on another.
//
//	client m0 192.168.77.2 ---- mg0 192.168.77.1 (shell) [adc: SNIP 10.2.0.5] da ---- [sw] ---- e0 10.2.0.11 srv
//	                                                                                   |------- e0 10.2.0.12 liar
func (l *Lab) monitors() error {
	nodes := []Node{{Name: "client"}, {Name: "adc"}, {Name: "sw", Bridge: true}, {Name: "srv"}, {Name: "liar"}}
	links := []Link{
		{End{Node: "client", If: "m0", Addr: "192.168.77.2/24"}, End{Node: "adc", If: "mg0", Addr: ShellIP + "/24"}},
		{End{Node: "sw", If: "p0"}, End{Node: "adc", If: "da"}},
		{End{Node: "srv", If: "e0", Addr: WatchedIP + "/24", Full: true}, End{Node: "sw", If: "p1"}},
		{End{Node: "liar", If: "e0", Addr: LiarIP + "/24", Full: true}, End{Node: "sw", If: "p2"}},
	}
	if err := l.wire(nodes, links); err != nil {
		return err
	}
	// A kernel says "port unreachable" to one address once a second, which several monitors of one second share.
	if err := l.Run("srv", "sysctl", "-qw", "net.ipv4.icmp_ratelimit=0"); err != nil {
		return err
	}
	ports := map[int]bool{}
	liar := []string{l.program("sluice-lab"), "lie"}
	for _, w := range Watched {
		if w.Port != 0 && !ports[w.Port] {
			ports[w.Port] = true
			liar = append(liar, fmt.Sprintf("%s:%d", LiarIP, w.Port))
		}
	}
	if err := l.Start("liar", "liar", liar...); err != nil {
		return err
	}
	if err := l.realServers(); err != nil {
		return err
	}
	if err := l.Monitors().Start(); err != nil {
		return err
	}
	return l.Monitors().Ready()
}

// realServers starts the servers, each with a folder of its own and no other file of the machine. The slow ones come first.
func (l *Lab) realServers() error {
	files := map[string]string{
		"mysql/init.sql":             "CREATE USER probe@'%' IDENTIFIED BY 'lab-secret';\n",
		"mysql/start.sh":             mysqlStart,
		"radius/users":               "probe Cleartext-Password := \"lab-secret\"\n",
		"radius/radiusd.conf":        radiusConf,
		"knot/example.com":           "$ORIGIN example.com.\n$TTL 60\n@ SOA ns hostmaster 1 60 60 60 60\n@ NS ns\nns A " + WatchedIP + "\nwww A 10.0.0.1\n",
		"ldap/slapd.conf":            slapdConf,
		"ldap/seed.ldif":             "dn: dc=example,dc=com\nobjectClass: organization\nobjectClass: dcObject\no: lab\ndc: example\n",
		"dovecot/dovecot.conf":       dovecotConf,
		"adc/config/monitors/get.sh": "#!/bin/sh\nexec curl -sSf http://$1:$2/$4\n",
		"ftp/vsftpd.conf":            vsftpdConf,
		"ftp/empty/welcome":          "",
		"dovecot/mail/.here":         "",
		"smtp/smtpd.conf":            "listen on 0.0.0.0\naction \"nowhere\" relay host smtp://127.0.0.1:9\nmatch from any for any action \"nowhere\"\n",
		"snmp/snmpd.conf":            "rocommunity public\n",
		"srv/nginx.conf":             fmt.Sprintf(nginxConf, "DIR", "DIR", "srv"),
	}
	for name, text := range files {
		path := l.Path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(name, "radius/") {
			mode = 0o600 // the server does not start with others
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", filepath.Dir(path))), mode); err != nil {
			return err
		}
	}
	for dir, mode := range map[string]os.FileMode{"adc/config/monitors/get.sh": 0o755, "radius": 0o700, "dovecot/mail": 0o777} {
		if err := os.Chmod(l.Path(dir), mode); err != nil {
			return err
		}
	}
	if err := run("slapadd", "-f", l.Path("ldap/slapd.conf"), "-l", l.Path("ldap/seed.ldif")); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"mysql", "sh", l.Path("mysql/start.sh")},
		{"radius", "freeradius", "-f", "-l", "stdout", "-d", l.Path("radius")},
		{"ldap", "slapd", "-h", "ldap://0.0.0.0", "-f", l.Path("ldap/slapd.conf"), "-d", "0"},
		{"dovecot", "dovecot", "-F", "-c", l.Path("dovecot/dovecot.conf")},
		{"ftp", "vsftpd", l.Path("ftp/vsftpd.conf")},
		// Its places are fixed, so it has a view of the files of its own.
		{"smtp", "unshare", "-m", "sh", "-c", "mount -t tmpfs none /run && mount -t tmpfs none /var/spool && exec smtpd -d -f " + l.Path("smtp/smtpd.conf")},
		{"snmp", "snmpd", "-f", "-Lo", "-C", "-c", l.Path("snmp/snmpd.conf"), "-p", l.Path("snmp/pid"), "udp:0.0.0.0:161"},
		{"nginx", "nginx", "-e", l.Path("srv/error.log"), "-c", l.Path("srv/nginx.conf")},
		{"echo", l.program("sluice-lab"), "udp-echo", "0.0.0.0:7", "srv"},
	} {
		if err := l.Start("srv", "srv-"+args[0], args[1:]...); err != nil {
			return err
		}
	}
	return l.NameServer("srv", "knot", "example.com")
}

// mysqlStart makes the system's tables without the script for it, which wants packages that nothing else here needs.
const mysqlStart = `cd DIR && mkdir -p data && (printf 'create database mysql;\nuse mysql;\n'
cat /usr/share/mysql/mysql_system_tables.sql /usr/share/mysql/mysql_system_tables_data.sql) |
mariadbd --no-defaults --bootstrap --datadir=DIR/data --user=root --innodb-buffer-pool-size=8M --innodb-log-file-size=4M &&
exec mariadbd --no-defaults --datadir=DIR/data --user=root --socket=DIR/sock --port=3306 --bind-address=0.0.0.0 --init-file=DIR/init.sql \
  --innodb-buffer-pool-size=8M --innodb-log-file-size=4M
`

const radiusConf = `prefix = /usr
libdir = /usr/lib/freeradius
logdir = DIR
run_dir = DIR
pidfile = DIR/pid
security {
  allow_core_dumps = no
  user = root
  group = root
}
client any {
  ipaddr = 0.0.0.0/0
  secret = lab-key
}
thread pool {
  start_servers = 1
  max_servers = 2
  min_spare_servers = 1
  max_spare_servers = 2
}
modules {
  pap {
  }
  files {
    filename = DIR/users
  }
}
server default {
  listen {
    type = auth
    ipaddr = 0.0.0.0
    port = 1812
  }
  authorize {
    files
    pap
  }
  authenticate {
    Auth-Type PAP {
      pap
    }
  }
}
`

// knotConf is for a zone that lies in a folder under its name and is read again on SIGHUP, never written.
const knotConf = `server:
    rundir: %[1]s
    user: root:root
    listen: 0.0.0.0@53
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: %[1]s
log:
  - target: stderr
    any: info
zone:
  - domain: %[2]s
    file: %[1]s/%[2]s
    zonefile-sync: -1
    journal-content: none
`

// NameServer starts knotd in a node for a zone, whose file is DIR/ZONE in the lab's folder.
func (l *Lab) NameServer(node, dir, zone string) error {
	conf := l.Path(dir + "/knot.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, knotConf, l.Path(dir), zone), 0o644); err != nil {
		return err
	}
	return l.Start(node, dir+"-knot", "knotd", "-c", conf)
}

const slapdConf = `include /etc/ldap/schema/core.schema
pidfile DIR/pid
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
maxsize 1048576
suffix "dc=example,dc=com"
rootdn "cn=probe,dc=example,dc=com"
rootpw lab-secret
directory DIR
`

const dovecotConf = `base_dir = DIR/run
state_dir = DIR
log_path = DIR/log
protocols = pop3
listen = 0.0.0.0
ssl = no
disable_plaintext_auth = no
mail_location = maildir:DIR/mail
first_valid_uid = 0
passdb {
  driver = static
  args = user=probe password=lab-secret
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=/nonexistent
}
`

const vsftpdConf = `listen=YES
background=NO
anonymous_enable=YES
local_enable=NO
ftp_username=ftp
anon_root=DIR/empty
secure_chroot_dir=DIR/empty
seccomp_sandbox=NO
vsftpd_log_file=DIR/log
`
