package compile

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"sluice/vendor-config/schema"
)

// Way is how the packets of a probe reach their target, as a vserver's -m says for those of clients.
type Way uint8

// The ways. Answers to all of them come from the target's address and straight back.
const (
	Direct    Way = iota // to the target, as routes say
	Through              // -transparent: unchanged to the MAC address of the server, a device on the way to the target
	Tunnelled            // -ipTunnel: in an IP packet to the server, which has the target's address on itself
	Marked               // -tos: to the server's address with a DSCP that it knows the target's address by
)

// ProbeMark is the mark (SO_MARK) of packets that the kernel is to hand to management, which sends them on their way: the number of
// the routing rule and of its table.
const ProbeMark = 90

// wayOf is the way that a monitor asks for; one that only a script of its own could take is refused elsewhere.
func wayOf(m *schema.LBMonitor) Way {
	switch "YES" {
	case m.Transparent:
		return Through
	case m.IPTunnel:
		return Tunnelled
	case m.TOS:
		return Marked
	}
	return Direct
}

// Probe is one monitor watching one service.
type Probe struct {
	Service, Monitor string
	Type             string         // of monitor, e.g. PING
	Source           netip.Addr     // SNIP on the side of the target
	Target           netip.AddrPort // port 0 for PING
	Way              Way            // how its packets go to the target
	Via              netip.Addr     // of the server by which they go, unless the way is Direct
	DSCP             uint8          // that stands for the target, for Marked
	Interval         time.Duration
	RespTimeout      time.Duration
	DownTime         time.Duration
	Retries          uint32
	SuccessRetries   uint32
	FailureRetries   uint32        // failures among the last Retries that are enough; 0 is all of them
	AlertRetries     uint32        // failures in a row that are told; 0 is never
	RespThreshold    uint32        // percent of RespTimeout beyond which an answer is told to be slow; 0 is never
	Learn            bool          // the average response time
	Deviation        time.Duration // from the average that is too much; 0 is none
	Reverse          bool          // UP when the probe fails
	Secure           bool          // over TLS
	Ask              *Ask          // what is asked and expected; one for all services that the monitor watches
}

// Ask is what a monitor asks and what it expects, by its type. It is never written to.
type Ask struct {
	RespCodes   [][2]uint16 // inclusive ranges
	HTTPRequest string      // e.g. "HEAD /"
	Headers     string      // customHeaders, as they are sent
	Send, Recv  []byte

	Query, QueryType string       // DNS; no query is one for the root to which any answer will do
	Addresses        []netip.Addr // one of which must be in the answer

	UserName, Password string
	RadKey, RadNASID   string
	RadNASIP           netip.Addr // the source when it is not valid

	BaseDN, BindDN, Filter, Attribute string // LDAP
	Database, SQLQuery                string

	Script, ScriptArgs string
	Dispatcher         netip.AddrPort // that runs the script

	SNMPOID, Community, SNMPVersion string
	Threshold                       uint64   // of the value; 0 is none
	Metrics                         []Metric // LOAD
}

// Metric is what a monitor of type LOAD asks an agent for.
type Metric struct {
	Name, OID         string
	Threshold, Weight uint32
}

// metrics are what a monitor of type LOAD asks for, in the order in which it was bound.
func metrics(c *schema.Config, m *schema.LBMonitor) (all []Metric) {
	if m.Type != "LOAD" {
		return nil
	}
	for _, b := range schema.All[schema.LBMonitorMetric](c) {
		if b.Monitor == m.Name {
			if e := schema.Get[schema.LBMetric](c, m.MetricTable, b.Metric); e != nil {
				all = append(all, Metric{b.Metric, e.OID, b.Threshold, b.Weight})
			}
		}
	}
	return all
}

// ask reads what a monitor asks off its row.
func ask(m *schema.LBMonitor) (*Ask, error) {
	a := &Ask{HTTPRequest: m.HTTPRequest, Headers: string(schema.Payload(m.CustomHeaders)),
		Send: schema.Payload(m.Send), Recv: schema.Payload(m.Recv),
		Query: m.Query, QueryType: m.QueryType, UserName: m.UserName, Password: m.Password,
		RadKey: m.RadKey, RadNASID: m.RadNASID, RadNASIP: m.RadNASIP,
		BaseDN: m.BaseDN, BindDN: m.BindDN, Filter: m.Filter, Attribute: m.Attribute, Database: m.Database, SQLQuery: m.SQLQuery,
		SNMPOID: m.SNMPOID, Community: m.SNMPCommunity, SNMPVersion: m.SNMPVersion, Threshold: uint64(m.SNMPThreshold)}
	if m.Type == "USER" {
		a.Script, a.ScriptArgs, a.Dispatcher = m.ScriptName, m.ScriptArgs, netip.AddrPortFrom(m.DispatcherIP, m.DispatcherPort)
	}
	for _, word := range strings.Fields(m.Addresses) {
		if ip, err := netip.ParseAddr(word); err == nil {
			a.Addresses = append(a.Addresses, ip)
		}
	}
	if m.RespCode == "" {
		return a, nil
	}
	var err error
	least, most := uint64(100), uint64(599)
	if m.Type == "RADIUS" {
		least, most = 1, 255
	}
	if a.RespCodes, err = respCodes(m.RespCode, least, most); err != nil {
		return a, schema.Refuse(schema.BadValue, "respCode", m.RespCode).Because("lb monitor " + m.Name + " needs response codes of " + strconv.FormatUint(least, 10) + "-" + strconv.FormatUint(most, 10))
	}
	return a, nil
}
