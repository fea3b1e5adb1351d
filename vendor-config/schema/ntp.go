package schema

// NTPServer is a time server. With ntp sync enabled the machine's clock is set by those that agree: at once if it is more than a
// second off in the first three looks, later only little by little.
type NTPServer struct {
	Server    string `cli:"serverName" key:"1" max:"253" syntax:"station" help:"IPv4 address or domain name of the server"`
	Minpoll   uint8  `cli:"minpoll" def:"6" min:"4" max:"17" help:"Least time between two looks, as a power of two in seconds"`
	Maxpoll   uint8  `cli:"maxpoll" def:"10" min:"4" max:"17" help:"Greatest time between two looks, as a power of two in seconds"`
	Key       uint16 `cli:"key" min:"1" max:"65534" help:"Number of the key that answers must be signed by, of the file ntp.keys of the configuration directory"`
	Preferred string `cli:"preferredNtpServer" enum:"YES,NO" def:"NO" help:"Of servers that agree this one is followed"`
}

// NTPSync says whether the clock follows the servers. There is one at most; without it the clock does not.
type NTPSync struct {
	State string `cli:"state" only:"enable" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Whether the clock follows the servers"`
}

// NTPStatus is how the clock stands.
type NTPStatus struct{}

func init() {
	register[NTPServer]("ntp server", "ntp-server", "add set unset rm show", "Time server", true)
	unbuilt[NTPServer]("autokey")
	register[NTPSync]("ntp sync", "ntp-sync", "enable disable show", "Whether the clock follows the time servers", true)
	register[NTPStatus]("ntp status", "ntp-status", "show", "How the clock stands, and what the time servers say", false)
}

// NTPServers are the time servers that the clock is to follow; none while ntp sync is disabled.
func NTPServers(c *Config) []*NTPServer {
	if Single[NTPSync](c).State != "ENABLED" {
		return nil
	}
	return All[NTPServer](c)
}
