package grammar

import (
	"fmt"

	"sluice/vendor-config/schema"
)

// timeServersMost is how many time servers there may be: more say nothing that these do not.
const timeServersMost = 8

func checkTimeServer(c *schema.Config, s *schema.NTPServer) error {
	if s.Minpoll > s.Maxpoll {
		return schema.Refuse(schema.Conflict, "minpoll", "maxpoll").Because(fmt.Sprintf("the least time, 2^%d s, is greater than the greatest, 2^%d s", s.Minpoll, s.Maxpoll))
	}
	n := c.Len(schema.Of[schema.NTPServer]())
	if schema.Get[schema.NTPServer](c, s.Server) == nil {
		n++
	}
	if n > timeServersMost {
		return schema.Refuse(schema.NotPermitted, "ntp server").Because(fmt.Sprintf("there may be %d", timeServersMost))
	}
	return nil
}
