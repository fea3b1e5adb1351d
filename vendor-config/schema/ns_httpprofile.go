package schema

// NSHTTPProfile is a set of HTTP options.
type NSHTTPProfile struct {
	Name                      string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the profile"`
	DropInvalReqs             string `cli:"dropInvalReqs" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Refuse requests that break the rules of HTTP"`
	MarkHTTP09Inval           string `cli:"markHttp09Inval" enum:"ENABLED,DISABLED" def:"DISABLED" help:"HTTP/0.9 breaks them"`
	MarkConnReqInval          string `cli:"markConnReqInval" enum:"ENABLED,DISABLED" def:"DISABLED" help:"CONNECT breaks them"`
	CmpOnPush                 string `cli:"cmpOnPush" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Compress at once what is pushed"`
	ConMultiplex              string `cli:"conMultiplex" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Use server connections for several clients"`
	MaxReusePool              uint32 `cli:"maxReusePool" def:"0" max:"360000" help:"Most idle connections to a server that are kept; 0 is no limit"`
	DropExtraCRLF             string `cli:"dropExtraCRLF" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Drop line ends after a request"`
	IncompHdrDelay            uint32 `cli:"incompHdrDelay" def:"7000" min:"1" max:"360000" unit:"milliseconds" help:"How long the rest of a head is waited for"`
	WebSocket                 string `cli:"webSocket" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Let clients change to WebSocket"`
	RTSPTunnel                string `cli:"rtspTunnel" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Allow RTSP in HTTP"`
	ReqTimeout                uint32 `cli:"reqTimeout" def:"0" max:"86400" unit:"seconds" help:"How long a whole request is waited for; 0 is no limit"`
	AdptTimeout               string `cli:"adptTimeout" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Adapt reqTimeout to what is usual"`
	ReqTimeoutAction          string `cli:"reqTimeoutAction" max:"127" help:"What is done when it is over"`
	DropExtraData             string `cli:"dropExtraData" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Drop what comes after the end of a message"`
	WebLog                    string `cli:"webLog" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Log requests"`
	ClientIPHdrExpr           string `cli:"clientIpHdrExpr" max:"1499" help:"Expression that gives the client's address"`
	MaxReq                    uint16 `cli:"maxReq" def:"0" max:"65534" help:"Most requests on one connection to a server; 0 is no limit"`
	PersistentETag            string `cli:"persistentETag" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Keep ETags valid over compression"`
	HTTP2                     string `cli:"http2" enum:"ENABLED,DISABLED" def:"DISABLED" help:"HTTP/2"`
	HTTP2Direct               string `cli:"http2Direct" enum:"ENABLED,DISABLED" def:"DISABLED" help:"HTTP/2 without being asked"`
	Altsvc                    string `cli:"altsvc" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Tell clients of other ways to reach the service"`
	ReusePoolTimeout          uint32 `cli:"reusePoolTimeout" def:"0" max:"31536000" unit:"seconds" help:"How long an idle server connection is kept; 0 is for ever"`
	MaxHeaderLen              uint16 `cli:"maxHeaderLen" def:"24820" min:"2048" max:"61440" unit:"bytes" help:"Longest head"`
	MinReUsePool              uint32 `cli:"minReUsePool" def:"0" max:"360000" help:"Least idle server connections that are kept"`
	HTTP2MaxHeaderListSize    uint16 `cli:"http2MaxHeaderListSize" def:"24576" min:"8192" unit:"bytes" help:"Longest list of headers in HTTP/2"`
	HTTP2MaxFrameSize         uint32 `cli:"http2MaxFrameSize" def:"16384" min:"16384" max:"16777215" unit:"bytes" help:"Largest frame of HTTP/2"`
	HTTP2MaxConcurrentStreams uint16 `cli:"http2MaxConcurrentStreams" def:"100" max:"1000" help:"Most streams of a connection"`
	HTTP2InitialWindowSize    uint32 `cli:"http2InitialWindowSize" def:"65535" min:"8192" max:"20971520" unit:"bytes" help:"Initial window of a stream"`
	HTTP2HeaderTableSize      uint16 `cli:"http2HeaderTableSize" def:"4096" max:"16384" unit:"bytes" help:"Size of the table of headers"`
	HTTP2MinSeverConn         uint32 `cli:"http2MinSeverConn" def:"20" min:"1" max:"360000" help:"Least HTTP/2 connections to a server"`
	ApdexCltRespTimeThreshold uint32 `cli:"apdexCltRespTimeThreshold" def:"500" min:"1" max:"3600000" unit:"milliseconds" help:"Response time that counts as satisfying"`
	Spdy                      string `cli:"spdy" enum:"DISABLED,ENABLED,V2,V3" def:"DISABLED" help:"SPDY, as older devices write it"`
}

// NSHTTPParam are parameters of HTTP.
type NSHTTPParam struct {
	DropInvalReqs    string `cli:"dropInvalReqs" enum:"ON,OFF" def:"OFF" help:"Refuse requests that break the rules of HTTP"`
	MarkHTTP09Inval  string `cli:"markHttp09Inval" enum:"ON,OFF" def:"OFF" help:"HTTP/0.9 breaks them"`
	MarkConnReqInval string `cli:"markConnReqInval" enum:"ON,OFF" def:"OFF" help:"CONNECT breaks them"`
	InsNsSrvrHdr     string `cli:"insNsSrvrHdr" enum:"ON,OFF" def:"OFF" help:"Say in a header that the appliance answered by itself"`
	NsSrvrHdr        string `cli:"nsSrvrHdr" after:"insNsSrvrHdr" max:"79" help:"What it says"`
	LogErrResp       string `cli:"logErrResp" enum:"ON,OFF" def:"ON" help:"Log error answers"`
	ConMultiplex     string `cli:"conMultiplex" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Use server connections for several clients"`
	MaxReusePool     uint32 `cli:"maxReusePool" max:"360000" help:"Most idle connections to a server that are kept; 0 is no limit"`
}

func init() {
	stored[NSHTTPProfile]("ns httpProfile", "ns-http-profile", "add set unset rm show", "HTTP options of vservers and services")
	stored[NSHTTPParam]("ns httpParam", "ns-http-param", "set unset show", "Parameters of HTTP")
}
