package schema

import "net/netip"

// SNMPCommunity is a community of SNMP 1 and 2c.
type SNMPCommunity struct {
	CommunityName string `cli:"communityName" key:"1" secret:"yes" max:"31" help:"Name of the community, which is all that a manager must know"`
	Permissions   string `cli:"permissions" pos:"2" required:"yes" enum:"GET,GET_NEXT,GET_BULK,SET,ALL" help:"What it may ask"`
}

// SNMPManager is who may ask by SNMP.
type SNMPManager struct {
	IPAddress          string     `cli:"IPAddress" key:"1" many:"yes" max:"253" syntax:"name" help:"Address, network or domain name of the manager"`
	Netmask            netip.Addr `cli:"netmask" def:"255.255.255.255" help:"Subnet mask"`
	DomainResolveRetry uint16     `cli:"domainResolveRetry" min:"5" max:"20939" unit:"seconds" help:"Time until a name that could not be resolved is asked for again"`
}

// SNMPTrap is a receiver of traps.
type SNMPTrap struct {
	TrapClass       string `cli:"trapClass" key:"1" enum:"generic,specific" help:"generic: those that every agent knows; specific: those of this appliance"`
	TrapDestination string `cli:"trapDestination" key:"2" max:"45" syntax:"address" help:"Address of the receiver"`
	Version         string `cli:"version" fixed:"yes" enum:"V1,V2,V3" def:"V2" help:"Version of SNMP"`
	TD              uint16 `cli:"td" fixed:"yes" max:"4094" help:"Port of the receiver"`
	DestPort        uint16 `cli:"destPort" def:"162" min:"1" max:"65534" help:"Port of the receiver"`
	CommunityName   string `cli:"communityName" secret:"yes" max:"31" help:"Community that traps are sent with"`
	SrcIP           string `cli:"srcIP" max:"255" syntax:"address" help:"Source address of traps"`
	Severity        string `cli:"severity" enum:"Critical,Major,Minor,Warning,Informational" help:"Least severity that is told"`
	AllPartitions   string `cli:"allPartitions" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Traps of all partitions"`
}

// SNMPTrapUser is the user whom traps are sent as.
type SNMPTrapUser struct {
	TrapClass       string `cli:"trapClass" key:"1" enum:"generic,specific" help:"generic: those that every agent knows; specific: those of this appliance"`
	TrapDestination string `cli:"trapDestination" key:"2" max:"45" syntax:"address" help:"Address of the receiver"`
	UserName        string `cli:"userName" key:"3" keyword:"yes" max:"31" help:"snmp user"`
	SecurityLevel   string `cli:"securityLevel" only:"bind" enum:"noAuthNoPriv,authNoPriv,authPriv" def:"authNoPriv" help:"Whether messages are signed and encrypted"`
	Version         string `cli:"version" only:"bind" enum:"V1,V2,V3" def:"V2" help:"Version of SNMP"`
	TD              uint16 `cli:"td" only:"bind" max:"4094" help:"Traffic domain; 0 is the one without a number"`
}

// SNMPAlarm says when a trap is raised.
type SNMPAlarm struct {
	TrapName       string `cli:"trapName" key:"1" max:"63" syntax:"name" help:"Alarm, e.g. CPU-USAGE"`
	ThresholdValue uint32 `cli:"thresholdValue" help:"Value above which it is raised"`
	NormalValue    uint32 `cli:"normalValue" help:"Value below which it ends"`
	Time           uint32 `cli:"time" def:"1" unit:"seconds" help:"Time between two traps of it"`
	State          string `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Administrative state"`
	Severity       string `cli:"severity" enum:"Critical,Major,Minor,Warning,Informational" help:"Least severity that is told"`
	Logging        string `cli:"logging" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Write it to the log as well"`
}

// SNMPMIB is what the agent says about the appliance.
type SNMPMIB struct {
	Contact   string `cli:"contact" def:"WebMaster (default)" max:"127" help:"Who looks after it"`
	Name      string `cli:"name" def:"NetScaler" max:"127" help:"Name of the appliance"`
	Location  string `cli:"location" def:"POP (default)" max:"127" help:"Where it stands"`
	CustomID  string `cli:"customID" def:"Default" max:"127" help:"Any identification"`
	OwnerNode uint8  `cli:"ownerNode" help:"Node of a cluster that it belongs to; 255 is all of them"`
}

// SNMPOption are options of the agent.
type SNMPOption struct {
	Snmpset              string `cli:"snmpset" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Let managers change values"`
	SNMPTrapLogging      string `cli:"snmpTrapLogging" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Log traps"`
	PartitionNameInTrap  string `cli:"partitionNameInTrap" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Name the partition in traps"`
	SNMPTrapLoggingLevel string `cli:"snmpTrapLoggingLevel" enum:"EMERGENCY,ALERT,CRITICAL,ERROR,WARNING,NOTICE,INFORMATIONAL,DEBUG" def:"INFORMATIONAL" help:"Severity of these log messages"`
}

// SNMPView is a part of the tree of values.
type SNMPView struct {
	Name    string `cli:"name" key:"1" max:"31" syntax:"name" help:"Name of the view"`
	Subtree string `cli:"subtree" key:"2" max:"99" help:"OID below which the values are"`
	Type    string `cli:"type" required:"yes" enum:"included,excluded" help:"Whether they are in the view or not"`
}

// SNMPGroup says what users of SNMP 3 may see.
type SNMPGroup struct {
	Name          string `cli:"name" key:"1" max:"31" syntax:"name" help:"Name of the group"`
	SecurityLevel string `cli:"securityLevel" key:"2" enum:"noAuthNoPriv,authNoPriv,authPriv" help:"Whether messages are signed and encrypted"`
	ReadViewName  string `cli:"readViewName" required:"yes" max:"31" ref:"snmp-view" help:"snmp view that they may read"`
}

// SNMPUser is a user of SNMP 3.
type SNMPUser struct {
	Name          string `cli:"name" key:"1" max:"31" syntax:"name" help:"Name of the user"`
	Group         string `cli:"group" required:"yes" max:"31" ref:"snmp-group" help:"snmp group"`
	AuthType      string `cli:"authType" enum:"MD5,SHA" help:"How messages are signed"`
	AuthPasswd    string `cli:"authPasswd" secret:"yes" max:"63" help:"Password for that"`
	PrivType      string `cli:"privType" enum:"DES,AES" help:"How messages are encrypted"`
	PrivPasswd    string `cli:"privPasswd" secret:"yes" max:"63" help:"Password for that"`
	Encrypted     string `cli:"encrypted" flag:"yes" enum:"YES" help:"The secret is written in a form that only the device that wrote it can read; it is kept as it is"`
	Encryptmethod string `cli:"encryptmethod" max:"31" help:"How that device encrypted it"`
	Kek           string `cli:"kek" flag:"yes" enum:"YES" help:"A key of that device encrypts it"`
	Suffix        string `cli:"suffix" max:"63" help:"Which one"`
}

// SNMPEngineID is who the agent is in SNMP 3.
type SNMPEngineID struct {
	EngineID  string `cli:"engineID" pos:"1" also:"set" max:"31" help:"Hexadecimal digits"`
	OwnerNode uint8  `cli:"ownerNode" help:"Node of a cluster that it belongs to; 255 is all of them"`
}

func init() {
	stored[SNMPCommunity]("snmp community", "snmp-community", "add rm show", "Community of SNMP 1 and 2c")
	stored[SNMPManager]("snmp manager", "snmp-manager", "add set unset rm show", "Who may ask by SNMP")
	stored[SNMPTrap]("snmp trap", "snmp-trap", "add set unset rm show", "Receiver of traps")
	stored[SNMPTrapUser]("snmp trap", "snmp-trap-user", "bind unbind", "User whom traps are sent as")
	stored[SNMPAlarm]("snmp alarm", "snmp-alarm", "set unset rm enable disable show", "What raises a trap")
	stored[SNMPMIB]("snmp mib", "snmp-mib", "set unset show", "What the agent says about the appliance")
	stored[SNMPOption]("snmp option", "snmp-option", "set unset show", "Options of the agent")
	stored[SNMPView]("snmp view", "snmp-view", "add set rm show", "Part of the tree of values")
	stored[SNMPGroup]("snmp group", "snmp-group", "add set rm show", "What users of SNMP 3 may see")
	stored[SNMPUser]("snmp user", "snmp-user", "add set unset rm show", "User of SNMP 3")
	stored[SNMPEngineID]("snmp engineId", "snmp-engine-id", "set unset show", "Who the agent is in SNMP 3")
}
