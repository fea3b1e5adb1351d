package schema

// NSTCPParam is what holds for all TCP connections. There is one at most, which is not there while everything is at its default.
type NSTCPParam struct {
	DownStateRST string `cli:"downStateRST" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Answer SYNs to virtual servers that are DOWN, and have no backup that is up, with a reset; DISABLED drops them"`
}

func init() {
	register[NSTCPParam]("ns tcpParam", "ns-tcpparam", "set unset show", "Parameters of all TCP connections", true)
	unbuilt[NSTCPParam]("WS WSVal SACK learnVsvrMSS=DISABLED maxBurst initialCwnd delayedAck nagle limitedPersist oooQSize ackOnPush maxPktPerMss " +
		"pktPerRetx minRTO slowStartIncr maxDynServerProbes synHoldFastGiveup maxSynholdPerprobe maxSynhold mssLearnInterval mssLearnDelay " +
		"maxTimeWaitConn maxSynAckRetx synAttackDetection connFlushIfNoMem=NONE connFlushThres KAprobeUpdateLastactivity TcpMaxRetries " +
		"tcpFastOpenCookieTimeout autosyncookietimeout")
}
