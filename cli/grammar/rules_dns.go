package grammar

import (
	"fmt"

	"sluice/vendor-config/schema"
)

// nameServersMost is how many there may be: a name that none of them knows is asked of each in turn.
const nameServersMost = 16

func checkNameServer(c *schema.Config, s *schema.DNSNameServer) error {
	if !schema.Unicast(s.IP) && !s.IP.IsLoopback() {
		return schema.Refuse(schema.BadAddress, "IP", s.IP.String()).Because("it is not an IPv4 address of a host")
	}
	n := c.Len(schema.Of[schema.DNSNameServer]())
	if schema.Get[schema.DNSNameServer](c, s.IP.String()) == nil {
		n++
	}
	if n > nameServersMost {
		return schema.Refuse(schema.NotPermitted, "dns nameServer").Because(fmt.Sprintf("there may be %d", nameServersMost))
	}
	return nil
}
