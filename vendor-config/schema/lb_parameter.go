package schema

// LBParameter is what holds for all load balancing. There is one at most, which is not there while everything is at its
// default.
type LBParameter struct {
	StartupRRFactor uint32 `cli:"startupRRFactor" def:"0" help:"Requests for each service that go round robin first when a vserver is new, a service is bound or comes up, or the method changes; 0, the default, is none"`
}

func init() {
	register[LBParameter]("lb parameter", "lb-parameter", "set unset show", "Parameters of all load balancing", true)
	unbuilt[LBParameter]("httpOnlyCookieFlag=ENABLED useEncryptedPersistenceCookie=DISABLED cookiePassphrase consolidatedLConn=YES " +
		"usePortForHashLb=YES preferDirectRoute=YES monitorSkipMaxClient=DISABLED monitorConnectionClose=FIN " +
		"vServerSpecificMac=DISABLED AllowBoundSvcRemoval=ENABLED retainservicestate=OFF sessionsThreshold lbHashAlgorithm lbHashFingers maxPipelineNat")
}
