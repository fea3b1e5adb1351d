package compile

import (
	"net/netip"
	"time"

	"sluice/vendor-config/schema"
)

// Probe is one monitor watching one service.
type Probe struct {
	Service, Monitor string
	Type             string         // of monitor, e.g. PING
	Source           netip.Addr     // SNIP on the side of the target
	Target           netip.AddrPort // port 0 for PING
	Interval         time.Duration
	RespTimeout      time.Duration
	DownTime         time.Duration
	Retries          uint32
	SuccessRetries   uint32
	Reverse          bool // UP when the probe fails
	Secure           bool // over TLS
	Ask              *Ask // what is asked and expected; one for all services that the monitor watches
}

// Ask is what a monitor asks and what it expects, by its type. It is never written to.
type Ask struct {
	RespCodes   [][2]uint16 // inclusive ranges
	HTTPRequest string      // e.g. "HEAD /"
	Headers     string      // customHeaders, as they are sent
	Send, Recv  []byte
}

// ask reads what a monitor asks off its row.
func ask(m *schema.LBMonitor) (*Ask, error) {
	a := &Ask{HTTPRequest: m.HTTPRequest, Headers: string(schema.Payload(m.CustomHeaders)),
		Send: schema.Payload(m.Send), Recv: schema.Payload(m.Recv)}
	if m.RespCode == "" {
		return a, nil
	}
	var err error
	if a.RespCodes, err = respCodes(m.RespCode); err != nil {
		return a, schema.Refuse(schema.BadValue, "respCode", m.RespCode).Because("lb monitor " + m.Name + " needs status codes of 100-599, e.g. 200 300-302")
	}
	return a, nil
}
