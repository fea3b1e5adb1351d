package schema

// DNSAddRec is an address of a host name that the appliance answers with.
type DNSAddRec struct {
	HostName  string `cli:"hostName" key:"1" max:"253" syntax:"host" help:"Host name"`
	IPAddress string `cli:"IPAddress" key:"2" many:"yes" max:"45" syntax:"address" help:"Its address"`
	TTL       uint32 `cli:"TTL" only:"add" def:"3600" max:"2147483647" unit:"seconds" help:"How long resolvers may keep it"`
}

// DNSSuffix is a domain that is tried for names without one.
type DNSSuffix struct {
	DNSSuffix string `cli:"dnsSuffix" key:"1" max:"253" syntax:"host" help:"Domain"`
}

// DNSParameter are parameters of the resolver.
type DNSParameter struct {
	Retries                 uint8  `cli:"retries" def:"5" min:"1" max:"5" help:"How often a question is asked again"`
	MinTTL                  uint32 `cli:"minTTL" max:"604800" unit:"seconds" help:"Least time that an answer is kept"`
	MaxTTL                  uint32 `cli:"maxTTL" def:"604800" min:"1" max:"604800" unit:"seconds" help:"Longest time that an answer is kept"`
	NameLookupPriority      string `cli:"nameLookupPriority" enum:"WINS,DNS" def:"WINS" help:"Who is asked first"`
	Recursion               string `cli:"recursion" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Ask other servers for what is not known"`
	ResolutionOrder         string `cli:"resolutionOrder" enum:"OnlyAQuery,OnlyAAAAQuery,AThenAAAAQuery,AAAAThenAQuery" def:"OnlyAQuery" help:"Which records are asked for"`
	Dnssec                  string `cli:"dnssec" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Verify signatures"`
	MaxPipeline             uint32 `cli:"maxPipeline" help:"Most questions of a client at a time"`
	DNSRootReferral         string `cli:"dnsRootReferral" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Refer clients to the root servers"`
	DNS64Timeout            uint16 `cli:"dns64Timeout" max:"10000" unit:"milliseconds" help:"How long an AAAA answer is waited for before one is made"`
	ECSMaxSubnets           uint16 `cli:"ecsMaxSubnets" def:"0" max:"1280" help:"Most client subnets for one record"`
	MaxnegcacheTTL          uint32 `cli:"maxnegcacheTTL" def:"604800" min:"1" max:"604800" unit:"seconds" help:"Longest time that a negative answer is kept"`
	CacheHitBypass          string `cli:"cacheHitBypass" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Ask the server though the answer is known"`
	MaxCacheSize            uint32 `cli:"maxCacheSize" unit:"MB" help:"Most memory for answers"`
	MaxNegativeCacheSize    uint32 `cli:"maxNegativeCacheSize" unit:"MB" help:"Most memory for negative answers"`
	CacheNoExpire           string `cli:"cacheNoExpire" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Keep answers beyond their time while servers do not answer"`
	SplitPktQueryProcessing string `cli:"splitPktQueryProcessing" enum:"ALLOW,DROP" def:"ALLOW" help:"What becomes of questions that come in pieces"`
	CacheECSZeroPrefix      string `cli:"cacheECSZeroPrefix" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Keep answers that are for all subnets"`
}

func init() {
	stored[DNSAddRec]("dns addRec", "dns-add-rec", "add rm show", "Address of a host name")
	stored[DNSSuffix]("dns suffix", "dns-suffix", "add rm show", "Domain that is tried for short names")
	stored[DNSParameter]("dns parameter", "dns-parameter", "set unset show", "Parameters of the resolver")
}
