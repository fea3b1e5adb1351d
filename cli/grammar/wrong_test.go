package grammar

import (
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// wrong are commands that are refused, given the lab's configuration: the whole error, and the word at fault that it names.
var wrong = []struct{ line, fault, want string }{
	{"frobnicate", "frobnicate", "No such command [frobnicate]"},
	{"s", "s", "Ambiguous command [s]: it may be save, set, shell, show, shutdown, source, start, stat, stop"},
	{"source", "fileName", "Required argument missing [fileName]"},
	{"source a b", "b", "No such argument [b]"},
	{"source -a", "-a", "No such argument [-a]"},
	{"source \"\"", "fileName", "Invalid value [fileName, ]: it is the name of a file"},
	{"batch a", "a", "No such argument [a]"},
	{"batch", "fileName", "Required argument missing [fileName]"},
	{"batch -f", "fileName", "Required argument missing [fileName]"},
	{"batch -fileName a -fileName b", "-fileName", "No such argument [-fileName]"},
	{"batch -fileName a -outfile b", "outfile", "Feature not supported in this release [outfile]"},
	{"batch -fileName a -ntimes 2", "ntimes", "Feature not supported in this release [ntimes]"},
	{"exit now", "now", "No such argument [now]"},
	{"whoami x", "x", "No such argument [x]"},
	{"bind lb", "lb", "Incomplete command [bind lb]: next is one of vserver metricTable monitor group wlm"},
	{"add lb", "lb", "Incomplete command [add lb]: next is one of vserver metricTable monitor group route wlm"},
	{"add lb vsrv v HTTP", "vsrv", "No such command [vsrv]"},
	{"add serv x", "serv", "Ambiguous command [serv]: it may be server, service, serviceGroup"},
	{"bind server s1", "server", "No such command [bind server]: server takes the verbs add set unset rm rename enable disable show"},
	{"set system parameter -daysToExpire 29", "29", "Argument value out of range [daysToExpire, 30, 255]: 29 was given"},
	{"set system parameter -warnPriorNDays 41", "41", "Argument value out of range [warnPriorNDays, 5, 40]: 41 was given"},
	{"show ns feature LB", "LB", "No such argument [LB]"},
	{"disable ns feature LB", "ns", "Feature not supported in this release [disable ns feature]"},
	{"disable interface 1/1", "interface", "Feature not supported in this release [disable interface]"},
	{"bind cs vserver nobody -lbvserver vip", "nobody", "No such resource [vserver, nobody]"},
	{"add cs vserver c HTTP 10.1.0.60", "port", "Required argument missing [port]"},
	{"add cr vserver c HTTP 10.1.0.60 80 -redirect NOWHERE", "NOWHERE", "Invalid value [redirect, NOWHERE]: it is one of CACHE POLICY ORIGIN"},
	{"stat cs vserver", "cs", "Feature not supported in this release [stat cs vserver]: cs vserver is only stored, so there is nothing to count"},
	{"add ns pbr p ALLOW -srcIP", "srcIP", "Required argument missing [srcIP]"},
	{"add ns pbr p ALLOW -srcIP =", "srcIP", "Required argument missing [srcIP]"},
	{"add ns pbr p ALLOW -srcIP = -destIP 10.0.0.1", "srcIP", "Required argument missing [srcIP]: -srcIP wants a value; quote one that begins with -"},
	{"add ns pbr p ALLOW -srcIP < 10.0.0.1", "<", "Invalid value [srcIP, = <]: it is an address or a range, after = or !=, e.g. != 10.0.0.1-10.0.0.9"},
	{"add ns pbr p ALLOW -srcMac 1:2", "1:2", "Invalid value [srcMac, 1:2]: a MAC address is six pairs of hexadecimal digits, e.g. 02:00:00:00:00:01"},
	{"bind vrID 5 -ifnum 1/1", "5", "No such resource [id, 5]"},
	{"add serviceGroup web1 HTTP", "web1", "Resource already exists [serviceGroupName, web1]: it is a service"},
	{"add service pool s1 HTTP 8080", "pool", "Resource already exists [name, pool]: it is a serviceGroup"},
	{"add serviceGroup g SSL", "SSL", "Feature not supported in this release [serviceType, SSL]"},
	{"add serviceGroup g HTTP -autoScale POLICY", "autoScale", "Feature not supported in this release [autoScale, POLICY]"},
	{"set serviceGroup pool -autoScale DNS", "autoScale", "No such argument [-autoScale]"},
	{"set serviceGroup pool -serviceType TCP", "-serviceType", "No such argument [-serviceType]"},
	{"bind serviceGroup pool", "serverName", "Required argument missing [serverName, port, -monitorName]"},
	{"bind serviceGroup pool s1", "port", "Required argument missing [port]"},
	{"bind serviceGroup pool nobody 80", "nobody", "No such resource [serverName, nobody]"},
	{"bind serviceGroup nobody s1 80", "nobody", "No such resource [serviceGroupName, nobody]"},
	{"bind serviceGroup pool s1 80", "pool s1 80", "Resource already exists [serviceGroupName, pool s1 80]"},
	{"bind serviceGroup pool 10.2.0.11 80", "pool s1 80", "Resource already exists [serviceGroupName, pool s1 80]"},
	{"bind serviceGroup pool s1 *", "destPort", "Argument pre-requisite missing [destPort]: a member of serviceGroup pool has no port of its own, so the monitor must name one"},
	{"bind serviceGroup pool s1 81 -weight 101", "101", "Argument value out of range [weight, 1, 100]: 101 was given"},
	{"bind serviceGroup pool -monitorName none", "none", "No such resource [monitorName, none]"},
	{"unbind serviceGroup pool s2 80", "s2 80", "No such resource [serverName, s2 80]: it is not bound to pool"},
	{"unbind serviceGroup pool -monitorName tcp", "tcp", "No such resource [monitorName, tcp]: it is not bound to pool"},
	{"bind serviceGroup pool s1 81 -monState DISABLED", "monState", "Required argument missing [monitorName]: -monState is of one"},
	{"set serviceGroup pool -weight 5", "weight", "Required argument missing [serverName, port]: -weight is of one"},
	{"set serviceGroup pool s1 80 -cltTimeout 5", "cltTimeout", "Invalid argument [-cltTimeout]: it is of the whole serviceGroup"},
	{"set serviceGroup pool s1 -weight 5", "port", "Required argument missing [port]"},
	{"set serviceGroup pool s1 80", "-argument", "Required argument missing [-argument]: give at least one argument to set"},
	{"enable serviceGroup pool s1", "port", "Required argument missing [port]"},
	{"disable serviceGroup pool s1 81", "s1 81", "No such resource [serverName, s1 81]: it is not bound to pool"},
	{"bind lb vserver echo pool", "pool", "Invalid argument [pool]: the serviceGroup is HTTP and the vserver UDP"},
	{"bind lb vserver vip spare -weight 3", "weight", "Invalid argument [weight]: spare is a serviceGroup: give its members weights by bind serviceGroup"},
	{"stat serviceGroupMember pool s1", "port", "Required argument missing [port]"},
	{"rm server s4", "s4", "Resource is in use [s4]: a member of serviceGroup pool is on it"},
	{"rename server s1 s2", "s2", "Resource already exists [server, s2]"},
	{"rename server s1 s1", "s1", "Resource already exists [server, s1]: it is called so already"},
	{"rename server nobody s9", "nobody", "No such resource [server, nobody]"},
	{"rename server s1", "newName", "Required argument missing [newName]"},
	{"rename server s1 s9 s8", "s8", "No such argument [s8]"},
	{"rename server s1 -x", "-x", "No such argument [-x]"},
	{"rename server s1 é", "newName", "Invalid value [newName, é]: a name begins with a letter, digit or _ and goes on with letters, digits and _ # . space : @ = -"},
	{"rename service web1 pool", "pool", "Resource already exists [name, pool]: it is a serviceGroup"},
	{"rename lb monitor m-http x", "monitor", "No such command [rename monitor]: lb monitor takes the verbs add set unset rm show bind unbind enable disable"},
	{"show where 10.1.0.9 40000", "destIP", "Required argument missing [destIP, destPort, protocol]"},
	{"show where 10.1.0.9 40000 10.1.0.50 80 SCTP", "SCTP", "Invalid value [protocol, SCTP]: a protocol is TCP, UDP, ICMP or a number from 1 to 255"},
	{"show where 10.1.0.9 40000 10.1.0.50 99999 TCP", "99999", "Argument value out of range [destPort, 0, 65535]: 99999 was given"},
	{"ping", "hostName", "Required argument missing [hostName]"},
	{"ping 10.2.0.999", "10.2.0.999", "Invalid value [hostName, 10.2.0.999]: the last label of a domain name is no number"},
	{"ping fe80::1", "fe80::1", "Invalid value [hostName, fe80::1]: it is not an IPv4 address of a host"},
	{"ping 255.255.255.255", "255.255.255.255", "Invalid value [hostName, 255.255.255.255]: it is not an IPv4 address of a host"},
	{"ping -s 65508 10.2.0.11", "65508", "Argument value out of range [s, 0, 65507]: 65508 was given"},
	{"ping -S x 10.2.0.11", "x", "Invalid IP address [S, x]"},
	{"ping -i 0 10.2.0.11", "0", "Invalid value [i, 0]: it is a number of seconds from 0.2 to 65535"},
	{"ping -I eth0 10.2.0.11", "eth0", "Invalid value [I, eth0]: a port is named like 1/1"},
	{"ping -T 5 10.2.0.11", "T", "Feature not supported in this release [T]"},
	{"ping 10.2.0.11 -f", "-f", "No such argument [-f]"},
	{"ping 10.2.0.11 10.2.0.12", "10.2.0.12", "No such argument [10.2.0.12]"},
	{"ping \"-f\"", "-f", "Invalid value [hostName, -f]: the domain name of a host is labels of letters, digits, - and _ with dots between them, e.g. www.example.com"},
	{"traceroute 10.2.0.11 43", "43", "Argument value out of range [packetlen, 44, 32768]: 43 was given"},
	{"traceroute -v 10.2.0.11", "v", "Feature not supported in this release [v]"},
	{"traceroute -P SCTP 10.2.0.11", "SCTP", "Invalid value [P, SCTP]: it is one of UDP ICMP TCP"},
	{"traceroute -q 11 10.2.0.11", "11", "Argument value out of range [q, 1, 10]: 11 was given"},
	{"add ntp server", "serverName", "Required argument missing [serverName]"},
	{"add ntp server 10.2.0.999", "10.2.0.999", "Invalid value [serverName, 10.2.0.999]: the last label of a domain name is no number"},
	{"add ntp server ntp.example.com -minpoll 11 -maxpoll 10", "minpoll", "Arguments exclude each other [minpoll, maxpoll]: the least time, 2^11 s, is greater than the greatest, 2^10 s"},
	{"add ntp server 10.2.0.11 -minpoll 3", "3", "Argument value out of range [minpoll, 4, 17]: 3 was given"},
	{"add ntp server 10.2.0.11 -autokey", "autokey", "Feature not supported in this release [autokey]"},
	{"set ntp server 10.2.0.77 -key 5", "10.2.0.77", "No such resource [serverName, 10.2.0.77]"},
	{"rm ntp server 10.2.0.77", "10.2.0.77", "No such resource [serverName, 10.2.0.77]"},
	{"enable ntp sync now", "now", "No such argument [now]"},
	{"set ntp sync", "sync", "No such command [set sync]: ntp sync takes the verbs enable disable show"},
	{"nstrace", "nstrace", "Feature not supported in this release [nstrace]"},
	{"start nstrace -filter CONNECTION.IP.EQ(10.1.0.9)", "filter", "Feature not supported in this release [filter]"},
	{"start nstrace -link ENABLED", "ENABLED", "Feature not supported in this release [link, ENABLED]"},
	{"start nstrace -size 1515", "1515", "Argument value out of range [size, 0, 1514]: 1515 was given"},
	{"start trace -count 65", "65", "Argument value out of range [count, 1, 64]: 65 was given"},
	{"start trace -destPort 0", "0", "Argument value out of range [destPort, 1, 65535]: 0 was given"},
	{"start trace 10.1.0.9", "10.1.0.9", "No such argument [10.1.0.9]"},
	{"stop trace now", "now", "No such argument [now]"},
	{"stat worker -1", "-1", "No such argument [-1]"},
	{"add server", "name", "Required argument missing [name, IPAddress]"},
	{"add server s9", "IPAddress", "Required argument missing [IPAddress]"},
	{"add server s9 10.2.0.999", "10.2.0.999", "Invalid IP address [IPAddress, 10.2.0.999]"},
	{"add server s9 www..example.com", "www..example.com", "Invalid IP address [IPAddress, www..example.com]"},
	{"add server s9 www.example.com -domainResolveRetry 4", "4", "Argument value out of range [domainResolveRetry, 5, 20939]: 4 was given"},
	{"add server s9 10.2.0.99 -domainResolveRetry 60", "domainResolveRetry", "Argument pre-requisite missing [domainResolveRetry]: server s9 has an address and no domain name"},
	{"add server s9 www.example.com -IPv6Address YES", "IPv6Address", "Feature not supported in this release [IPv6Address, YES]"},
	{"set server byname -IPAddress 10.2.0.98", "10.2.0.98", "Invalid argument [IPAddress, 10.2.0.98]: server byname has the domain name www.example.com; add another one for the address"},
	{"set server s1 -domain www.example.com", "-domain", "Ambiguous argument [-domain]: it may be -domainResolveNow, -domainResolveRetry"},
	{"alias add \"show ns ip\"", "add", "Invalid value [pattern, add]: it is a command already, or short for one"},
	{"alias sh version", "sh", "Invalid value [pattern, sh]: it is a command already, or short for one"},
	{"alias reboot version", "reboot", "Invalid value [pattern, reboot]: it is a command already, or short for one"},
	{"alias -x version", "-x", "Invalid value [pattern, -x]: an alias is a word of at most 31 letters, digits and _ . -"},
	{"alias a/b version", "a/b", "Invalid value [pattern, a/b]: an alias is a word of at most 31 letters, digits and _ . -"},
	{"alias my \"\"", "command", "Invalid value [command]: an alias stands for one command, which | grep may follow; source executes several"},
	{"alias my \"show version; show ns ip\"", "command", "Invalid value [command]: an alias stands for one command, which | grep may follow; source executes several"},
	{"alias my \"add system user u hunter22\"", "command", "Invalid value [command]: an alias keeps no passwords and no keys"},
	{"alias my add system user u hunter22", "command", "Invalid value [command]: an alias keeps no passwords and no keys"},
	{"alias my " + strings.Repeat("x", 1024), "command", "String length exceeds maximum [command, 1023]"},
	{"unalias", "pattern", "Required argument missing [pattern]"},
	{"unalias v w", "w", "No such argument [w]"},
	{"add server s9 fe80::1", "fe80::1", "Invalid IP address [IPAddress, fe80::1]"},
	{"add server s9 127.0.0.1", "127.0.0.1", "Invalid IP address [IPAddress, 127.0.0.1]: it is not an address of a host"},
	{"add server s9 10.2.0.5", "10.2.0.5", "Invalid argument [IPAddress, 10.2.0.5]: it is a SNIP of this appliance"},
	{"add server s1 10.2.0.99", "s1", "Resource already exists [server, s1]"},
	{"add server s9 10.2.0.11", "10.2.0.11", "Server already exists [10.2.0.11]: it is server s1"},
	{"add server -x 10.2.0.99", "-x", "No such argument [-x]"},
	{"add server \"-x\" 10.2.0.99", "-x", "Invalid value [name, -x]: a name begins with a letter, digit or _ and goes on with letters, digits and _ # . space : @ = -"},
	{"add server \"a\\tb\" 10.2.0.99", "name", "Invalid value [name, a b]: the text has a control character"},
	{"add server s9 10.2.0.99 extra", "extra", "No such argument [extra]"},
	{"add server s9 10.2.0.99 -state UPSIDEDOWN", "UPSIDEDOWN", "Invalid value [state, UPSIDEDOWN]: it is one of ENABLED DISABLED"},
	{"add server s9 10.2.0.99 -comment", "comment", "Required argument missing [comment]"},
	{"add server s9 10.2.0.99 -comment -state ENABLED", "comment", "Required argument missing [comment]: -comment wants a value; quote one that begins with -"},
	{"add server s9 10.2.0.99 -comment a -comment b", "comment", "Invalid argument [-comment]: it is given twice"},
	{"add server s9 10.2.0.99 -comment \"open", "open", "Invalid syntax [\"open]: the quote is not closed"},
	{"add server " + strings.Repeat("n", 128) + " 10.2.0.99", "name", "String length exceeds maximum [name, 127]"},
	{"rm server s1", "s1", "Resource is in use [s1]: service web1 is on it"},
	{"rm server nobody", "nobody", "No such resource [server, nobody]"},
	{"rm server s1 -comment", "-comment", "No such argument [-comment]"},
	{"set server s1", "-argument", "Required argument missing [-argument]: give at least one argument to set"},
	{"set server s1 -state DISABLED", "-state", "No such argument [-state]"},
	{"add service web1 s1 HTTP 81", "web1", "Resource already exists [service, web1]"},
	{"add service w9 s1 TCP 80", "s1:80", "Resource already exists [s1:80, TCP]: it is service web1"},
	{"add service w9 nobody HTTP 80", "nobody", "No such resource [serverName, nobody]"},
	{"add service w9 10.2.0.99 SSL 443", "SSL", "Feature not supported in this release [serviceType, SSL]"},
	{"add service w9 10.2.0.99 HTTP 65536", "65536", "Argument value out of range [port, 0, 65535]: 65536 was given"},
	{"add service w9 10.2.0.99 HTTP http", "http", "Expected a positive integer argument [port, http]"},
	{"add service w9 10.2.0.99 HTTP -80", "-80", "No such argument [-80]"},
	{"add service w9 10.2.0.99 HTTP", "port", "Required argument missing [port]"},
	{"add service w9 10.2.0.99 HTTP 80 -usip MAYBE", "MAYBE", "Invalid value [usip, MAYBE]: it is one of YES NO"},
	{"add service w9 10.2.0.99 HTTP 80 -CKA YES", "CKA", "Feature not supported in this release [CKA, YES]"},
	{"add service w9 10.2.0.99 HTTP 80 -maxReq 65536", "maxReq", "Argument value out of range [maxReq, 0, 65535]: 65536 was given"},
	{"add service w9 10.2.0.99 HTTP 80 -maxClient 4294967295", "maxClient", "Argument value out of range [maxClient, 0, 4294967294]: 4294967295 was given"},
	{"set ns timeout -zombie 0", "0", "Argument value out of range [zombie, 1, 600]: 0 was given"},
	{"set ns timeout -halfclose 601", "601", "Argument value out of range [halfclose, 1, 600]: 601 was given"},
	{"set ns timeout -tcpClient 18001", "18001", "Argument value out of range [tcpClient, 0, 18000]: 18001 was given"},
	{"set ns timeout -anyTcpClient 60", "anyTcpClient", "Feature not supported in this release [anyTcpClient, 60]"},
	{"set lb vserver vip -soThreshold 5", "soMethod", "Argument pre-requisite missing [soThreshold, soMethod NONE]: a threshold needs a soMethod; unset both together"},
	{"set lb vserver vip -soBackupAction DROP", "soMethod", "Argument pre-requisite missing [soBackupAction, soMethod NONE]: an action needs a soMethod; unset both together"},
	{"set lb vserver vip -soPersistence ENABLED", "soMethod", "Argument pre-requisite missing [soPersistence ENABLED, soMethod NONE]: nobody is spilled over without a soMethod; unset both together"},
	{"set lb vserver vip -soMethod CONNECTION -soThreshold 9 -soPersistenceTimeOut 1", "soPersistenceTimeOut", "Argument value out of range [soPersistenceTimeOut, 2, 1440]: 1 was given"},
	{"set lb vserver vip -soMethod CONNECTION", "soThreshold", "Argument pre-requisite missing [soThreshold, soMethod CONNECTION]: the method needs a threshold"},
	{"set lb vserver vip -soMethod DYNAMICCONNECTION -soThreshold 4", "DYNAMICCONNECTION", "Invalid argument [soThreshold, soMethod DYNAMICCONNECTION]: its threshold is the sum of the services' maxClient"},
	{"set lb vserver vip -soMethod HEALTH -soThreshold 101", "HEALTH", "Argument value out of range [soThreshold 101, soMethod HEALTH]: it is a percentage"},
	{"set lb vserver vip -soMethod BANDWIDTH -soThreshold 10 -soBackupAction REDIRECT", "REDIRECT", "Feature not supported in this release [soBackupAction, REDIRECT]"},
	{"set lb vserver vip -disablePrimaryOnDown ENABLED", "backupVServer", "Argument pre-requisite missing [disablePrimaryOnDown ENABLED, backupVServer]: nobody would take the clients; give a backup vserver"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -m MAC -lbMethod SOURCEIPHASH -sessionless ENABLED -persistenceType SOURCEIP", "persistenceType", "Arguments exclude each other [-sessionless ENABLED, -persistenceType SOURCEIP]: persistence remembers sessions"},
	{"set lb vserver vip -newServiceRequest 101 PERCENT", "newServiceRequest", "Argument value out of range [newServiceRequest 101, newServiceRequestUnit PERCENT]: a service gets 100 percent of its share at most"},
	{"set lb vserver vip -newServiceRequest 10 -newServiceRequestIncrementInterval 3601", "3601", "Argument value out of range [newServiceRequestIncrementInterval, 0, 3600]: 3601 was given"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -m MAC -lbMethod SOURCEIPHASH -sessionless ENABLED -newServiceRequest 5", "sessionless", "Invalid argument [newServiceRequest 5, sessionless ENABLED]: slow start counts new connections, and there are none without sessions"},
	{"set lb vserver vip -backupVServer vip", "vip", "Invalid argument [backupVServer, vip]: its backups lead back to lb vserver vip"},
	{"set lb vserver vip -backupVServer nobody", "nobody", "No such resource [backupVServer, nobody]"},
	{"add service w9 10.2.0.99 HTTP 80 -tcpProfileName p", "tcpProfileName", "Feature not supported in this release [tcpProfileName]"},
	{"add service w9 10.2.0.99 HTTP 80 -cltTimeout 31536001", "31536001", "Argument value out of range [cltTimeout, 0, 31536000]: 31536001 was given"},
	{"add service w9 10.2.0.99 HTTP 80 -c 1", "-c", "Ambiguous argument [-c]: it may be -CKA, -CMP, -CustomServerID, -cacheType, -cacheable, -cip, -clearTextPort, -cltTimeout, -comment"},
	{"bind service web1 -monitorName none", "none", "No such resource [monitorName, none]"},
	{"bind service web1", "-monitorName", "Required argument missing [-monitorName]"},
	{"bind service all -monitorName m-http", "destPort", "Argument pre-requisite missing [destPort]: service all has no port of its own, so the monitor must name one"},
	{"unbind service web1 -monitorName tcp", "tcp", "No such resource [monitorName, tcp]: it is not bound to web1"},
	{"add lb vserver vip TCP 10.1.0.61 80", "vip", "Resource already exists [vserver, vip]"},
	{"add lb vserver v9 TCP 10.1.0.50 80", "10.1.0.50:80", "Resource already exists [10.1.0.50:80, TCP]: it is lb vserver vip"},
	{"add lb vserver v9 TCP 10.1.0.61", "port", "Required argument missing [port]"},
	{"add lb vserver v9 TCP 10.1.0.5 80", "10.1.0.5", "Operation not permitted [10.1.0.5]: it is a SNIP; give the vserver an address of its own"},
	{"add lb vserver v9 TCP 127.0.0.1 80", "127.0.0.1", "Invalid IP address [IPAddress, 127.0.0.1]: a VIP is an address of a host; 0.0.0.0 0 is a vserver that is not addressed"},
	{"add service r[1-2] 10.2.0.[21-23] TCP 80", "10.2.0.[21-23]", "Invalid value [10.2.0.[21-23]]: ranges of one command must be equally long"},
	{"add service r[1-2][1-2] 10.2.0.21 TCP 80", "r[1-2][1-2]", "Invalid value [r[1-2][1-2]]: a word has one range at most"},
	{"add lb vserver v9 ANY * * -range 2", "range", "Invalid argument [range, 2]: a range begins with an IPAddress, and the vserver is on *:*"},
	{"add lb vserver v9 TCP 223.255.255.254 80 -range 3", "range", "Argument value out of range [range, 3]: from 223.255.255.254 on it ends beyond the addresses of hosts"},
	{"add lb vserver v9 TCP 10.1.0.4 80 -range 2", "10.1.0.5", "Operation not permitted [10.1.0.5]: it is a SNIP; give the vserver an address of its own"},
	{"add lb vserver v9 TCP 10.1.0.60 80 -range 255", "range", "Argument value out of range [range, 1, 254]: 255 was given"},
	{"add lb vserver v9 TCP 10.1.0.60 80 -Listenpolicy TRUE", "Listenpolicy", "Argument pre-requisite missing [Listenpolicy]: it narrows a vserver on * or an IPPattern, and v9 is on 10.1.0.60:80"},
	{"add lb vserver v9 TCP * 80 -Listenpriority 5", "Listenpriority", "Argument pre-requisite missing [Listenpriority, 5]: it goes with a Listenpolicy: give one, or unset -Listenpriority as well"},
	{"add lb vserver v9 TCP * 80 -Listenpolicy TRUE -Listenpriority 102", "102", "Argument value out of range [Listenpriority, 0, 101]: 102 was given"},
	{"add lb vserver v9 TCP -IPPattern 10.0.0.0", "IPMask", "Required argument missing [IPMask]: it says which bits of the IPPattern count"},
	{"add lb vserver v9 TCP * 80 -IPMask 255.0.0.0", "IPMask", "Argument pre-requisite missing [IPMask, 255.0.0.0]: it goes with an IPPattern"},
	{"add lb vserver v9 TCP 10.1.0.60 80 -IPPattern 10.0.0.0 -IPMask 255.0.0.0", "IPPattern", "Invalid argument [IPAddress, IPPattern]: a vserver has one of the two: unset -IPPattern -IPMask, or remove it and add it without an address"},
	{"add lb vserver v9 TCP -IPPattern 10.0.0.0 -IPMask 255.0.255.0 80", "IPMask", "Invalid value [IPMask, 255.0.255.0]: its ones come first (255.255.0.0) or last (0.0.0.255); for every address give * in the place of the pattern"},
	{"add lb vserver v9 TCP -IPPattern 10.0.0.0 -IPMask 255.0.0.0 10.0.0.1 80", "10.0.0.1", "Expected a positive integer argument [port, 10.0.0.1]"},
	{"add lb vserver v9 T 10.1.0.61 80", "T", "Invalid value [serviceType, T]: it may be TCP, TFTP"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod DOMAINHASH", "DOMAINHASH", "Feature not supported in this release [lbMethod, DOMAINHASH]"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod BESTONE", "BESTONE", "Invalid value [lbMethod, BESTONE]: it is one of ROUNDROBIN LEASTCONNECTION LEASTPACKETS LEASTBANDWIDTH LEASTRESPONSETIME DESTINATIONIPHASH SOURCEIPHASH SRCIPDESTIPHASH SRCIPSRCPORTHASH LEASTREQUEST CUSTOMLOAD TOKEN CALLIDHASH LRTM"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod URLHASH", "URLHASH", "Feature not supported in this release [lbMethod, URLHASH]"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod TOKEN -dataLength 4", "lbMethod", "Feature not supported in this release [lbMethod, TOKEN]: it goes by the first datagram of a flow, so the vserver must be of type UDP and is TCP"},
	{"add lb vserver v9 ANY 10.1.0.61 80 -lbMethod CALLIDHASH", "lbMethod", "Feature not supported in this release [lbMethod, CALLIDHASH]: it goes by the first datagram of a flow, so the vserver must be of type UDP and is ANY"},
	{"add lb vserver v9 UDP 10.1.0.61 80 -lbMethod TOKEN", "dataLength", "Required argument missing [dataLength]: TOKEN hashes so many bytes of a datagram's payload, from -dataOffset on; or give a -rule"},
	{"add lb vserver v9 UDP 10.1.0.61 80 -lbMethod TOKEN -rule CLIENT.UDP.PAYLOAD(4) -dataLength 4", "dataLength", "Arguments exclude each other [-rule, -dataLength 4]: both say what TOKEN hashes"},
	{"add lb vserver v9 UDP 10.1.0.61 80 -lbMethod TOKEN -rule CLIENT.UDP.PAYLOAD(4) -dataOffset 4", "dataOffset", "Arguments exclude each other [-rule, -dataOffset 4]: both say what TOKEN hashes"},
	{"add lb vserver v9 UDP 10.1.0.61 80 -rule CLIENT.IP.SRC", "rule", "Argument pre-requisite missing [rule, CLIENT.IP.SRC]: it is for the method TOKEN, and -lbMethod is LEASTCONNECTION"},
	{"add lb vserver v9 UDP 10.1.0.61 80 -lbMethod CALLIDHASH -dataLength 4", "dataLength", "Argument pre-requisite missing [dataLength, 4]: it is for the method TOKEN, and -lbMethod is CALLIDHASH"},
	{"add lb vserver v9 UDP 10.1.0.61 80 -dataOffset 4", "dataOffset", "Argument pre-requisite missing [dataOffset, 4]: it is for the method TOKEN, and -lbMethod is LEASTCONNECTION"},
	{"add lb vserver v9 UDP 10.1.0.61 80 -lbMethod TOKEN -dataLength 101", "101", "Argument value out of range [dataLength, 1, 100]: 101 was given"},
	{"set service web1 -hashId 0", "hashId", "Argument value out of range [hashId, 1, 4294967295]: 0 was given"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod SOURCEIPHASH -netmask 255.0.255.0", "255.0.255.0", "Invalid value [netmask, 255.0.255.0]: a mask is ones and then zeros, e.g. 255.255.255.0"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod SOURCEIPHASH -netmask 0.0.0.0", "0.0.0.0", "Invalid value [netmask, 0.0.0.0]: a mask is ones and then zeros, e.g. 255.255.255.0"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod SOURCEIPHASH -netmask 24", "24", "Invalid IP address [netmask, 24]"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod SOURCEIPHASH -v6netmasklen 64", "v6netmasklen", "Feature not supported in this release [v6netmasklen, 64]"},
	{"set lb vserver vip -persistenceType SOURCEIP -persistMask 255.0.255.0", "persistMask", "Invalid value [persistMask, 255.0.255.0]: a mask is ones and then zeros, e.g. 255.255.255.0"},
	{"set lb vserver vip -persistenceType SOURCEIP -timeout 0", "timeout", "Timeout value out of range [timeout, 0]: persistence of type SOURCEIP remembers a client for 1 to 1440 minutes"},
	{"set lb vserver vip -persistenceType SOURCEIP -timeout 1441", "1441", "Argument value out of range [timeout, 0, 1440]: 1441 was given"},
	{"set lb vserver vip -persistenceBackup SOURCEIP", "persistenceBackup", "Invalid argument [persistenceBackup, SOURCEIP]: it is for persistence of another type, such as SRCIPDESTIP, and -persistenceType is NONE"},
	{"set lb vserver vip -persistenceType SOURCEIP -persistenceBackup SOURCEIP", "persistenceBackup", "Invalid argument [persistenceBackup, SOURCEIP]: it is for persistence of another type, such as SRCIPDESTIP, and -persistenceType is SOURCEIP"},
	{"set lb vserver vip -persistenceType RULE", "RULE", "Feature not supported in this release [persistenceType, RULE]"},
	{"clear lb persistentSessions vip -persistenceParameter x", "persistenceParameter", "Feature not supported in this release [persistenceParameter]"},
	{"set lb vserver vip -netmask 255.255.255.0", "netmask", "Argument pre-requisite missing [netmask, 255.255.255.0]: it is for the methods SOURCEIPHASH and DESTINATIONIPHASH; with ROUNDROBIN give -netmask 255.255.255.255"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -lbMethod SRCIPDESTIPHASH -netmask 255.255.255.0", "netmask", "Argument pre-requisite missing [netmask, 255.255.255.0]: it is for the methods SOURCEIPHASH and DESTINATIONIPHASH; with SRCIPDESTIPHASH give -netmask 255.255.255.255"},
	{"add lb vserver v9 TCP 10.1.0.61 80 -connfailover STATEFUL", "connfailover", "Feature not supported in this release [connfailover, STATEFUL]"},
	{"bind lb vserver vip echo1", "echo1", "Invalid argument [echo1]: the service is UDP and the vserver HTTP"},
	{"bind lb vserver vip web1", "vip web1", "Resource already exists [vserver, vip web1]"},
	{"bind lb vserver nobody web1", "nobody", "No such resource [vserver, nobody]"},
	{"bind lb vserver vip nobody", "nobody", "No such resource [serviceName, nobody]"},
	{"bind lb vserver vip web1 -weight 0", "0", "Argument value out of range [weight, 1, 100]: 0 was given"},
	{"bind lb vserver vip web1 -weight 4294967297", "4294967297", "Argument value out of range [weight, 1, 100]: 4294967297 was given"},
	{"bind lb vserver vip web1 -weight -1", "weight", "Required argument missing [weight]: -weight wants a value; quote one that begins with -"},
	{"set lb vserver vip -weight 0 web1", "0", "Argument value out of range [weight, 1, 100]: 0 was given"},
	{"set lb vserver vip -weight 101 web1", "101", "Argument value out of range [weight, 1, 100]: 101 was given"},
	{"bind lb vserver vip web1 -weight 101", "101", "Argument value out of range [weight, 1, 100]: 101 was given"},
	{"unbind lb vserver vip echo1", "echo1", "No such resource [serviceName, echo1]: it is not bound to vip"},
	{"unbind lb vserver nobody echo1", "nobody", "No such resource [vserver, nobody]"},
	{"set lb vserver vip -weight 5", "serviceName", "Required argument missing [serviceName]"},
	{"set lb vserver vip -weight 5 echo1", "echo1", "No such resource [serviceName, echo1]: it is not bound to vip"},
	{"bind lb vserver vip web1 -weight 0", "0", "Argument value out of range [weight, 1, 100]: 0 was given"},
	{"set lb vserver vip -weight 1000 web1", "1000", "Argument value out of range [weight, 1, 100]: 1000 was given"},
	{"set lb parameter", "-argument", "Required argument missing [-argument]: give at least one argument to set"},
	{"set lb parameter -startupRRFactor", "startupRRFactor", "Required argument missing [startupRRFactor]"},
	{"set lb parameter -startupRRFactor -1", "startupRRFactor", "Required argument missing [startupRRFactor]: -startupRRFactor wants a value; quote one that begins with -"},
	{"set lb parameter -startupRRFactor 4294967296", "4294967296", "Argument value out of range [startupRRFactor, 0, 4294967295]: 4294967296 was given"},
	{"set lb parameter -startupRRFactor some", "some", "Expected a positive integer argument [startupRRFactor, some]"},
	{"set lb parameter all -startupRRFactor 1", "all", "No such argument [all]"},
	{"set lb parameter -consolidatedLConn NO", "consolidatedLConn", "Feature not supported in this release [consolidatedLConn, NO]"},
	{"add lb parameter -startupRRFactor 1", "parameter", "No such command [add parameter]: system parameter takes the verbs set unset show"},
	{"set lb vserver vip -serviceType TCP", "-serviceType", "No such argument [-serviceType]"},
	{"rm lb vserver", "name", "Required argument missing [name]"},
	{"disable lb vserver nobody", "nobody", "No such resource [vserver, nobody]"},
	{"add ns ip 10.1.0.70", "netmask", "Required argument missing [netmask]"},
	{"add ns ip 10.1.0.70 255.0.255.0", "255.0.255.0", "Invalid value [netmask, 255.0.255.0]: a mask is ones and then zeros, e.g. 255.255.255.0"},
	{"add ns ip 10.1.0.255 255.255.255.0", "10.1.0.255", "Invalid IP address [IPAddress, 10.1.0.255]: with the mask 255.255.255.0 it is the network or broadcast address"},
	{"add ns ip 10.1.0.5 255.255.255.0", "10.1.0.5", "Resource already exists [IPAddress, 10.1.0.5]"},
	{"add ns ip 10.2.0.11 255.255.255.0", "10.2.0.11", "Resource already exists [10.2.0.11]: it is the address of server s1"},
	{"add lb vserver v9 TCP 10.2.0.11 80", "10.2.0.11", "Resource already exists [10.2.0.11]: it is the address of server s1"},
	{"add ns ip 10.1.0.1 255.255.255.0", "10.1.0.1", "Resource already exists [10.1.0.1]: it is the gateway of route 0.0.0.0 0.0.0.0 10.1.0.1"},
	{"add ns ip 224.0.0.5 255.255.255.0", "224.0.0.5", "Invalid IP address [IPAddress, 224.0.0.5]: it is not an address of a host"},
	{"add ns ip 10.1.0.70 255.255.255.0 -type CLIP", "CLIP", "Feature not supported in this release [type, CLIP]"},
	{"add ns ip 10.1.0.[9-3] 255.255.255.0", "10.1.0.[9-3]", "Invalid value [10.1.0.[9-3]]: a range goes up and has at most 256 members"},
	{"rm ns ip 10.1.0.50", "10.1.0.50", "Resource is in use [10.1.0.50]: lb vserver vip is on it"},
	{"rm ns ip 10.2.0.5", "10.2.0.5", "Resource is in use [10.2.0.5]: it is bound to vlan 2"},
	{"rm ns ip 10.1.0.5", "10.1.0.5", "Resource is in use [10.1.0.5]: the gateway of route 0.0.0.0 0.0.0.0 10.1.0.1 is on its subnet"},
	{"disable ns ip 10.1.0.5", "10.1.0.5", "Operation not permitted [10.1.0.5]: only a VIP can be disabled, and it is a SNIP"},
	{"set ns ip 10.1.0.50 -vServer DISABLED", "10.1.0.50", "Resource is in use [10.1.0.50]: lb vserver vip is on it"},
	{"add route 10.9.0.0 255.255.0.0 10.8.0.1", "10.8.0.1", "The gateway is not directly reachable [10.8.0.1]: add a SNIP on its subnet first"},
	{"add route 10.9.0.1 255.255.0.0 10.1.0.1", "10.9.0.1", "Invalid value [network, 10.9.0.1]: with the mask 255.255.0.0 the network is 10.9.0.0"},
	{"add route 10.9.0.0 255.255.0.0 10.1.0.5", "10.1.0.5", "Invalid argument [gateway, 10.1.0.5]: it is an address of this appliance"},
	{"add route 10.9.0.0 255.255.0.0 10.1.0.1 -distance 256", "256", "Argument value out of range [distance, 0, 255]: 256 was given"},
	{"rm route 10.9.0.0 255.255.0.0 10.1.0.1", "10.9.0.0", "No such resource [network, 10.9.0.0 255.255.0.0 10.1.0.1]"},
	{"add vlan 4095", "4095", "Argument value out of range [id, 2, 4094]: 4095 was given"},
	{"bind vlan 2", "-ifnum", "Required argument missing [-ifnum, -IPAddress]"},
	{"bind vlan 3 -ifnum 1/1", "3", "No such resource [id, 3]"},
	{"bind vlan 2 -ifnum eth0", "eth0", "Invalid value [ifnum, eth0]: a port is named like 1/1"},
	{"bind vlan 2 -IPAddress 10.1.0.5 255.255.0.0", "255.255.0.0", "Invalid argument [netmask, 255.255.0.0]: ns ip 10.1.0.5 has the mask 255.255.255.0"},
	{"bind vlan 2 -IPAddress 10.7.7.7 255.255.0.0", "10.7.7.7", "No such resource [IPAddress, 10.7.7.7]"},
	{"bind vlan 2 -ifnum 1/3 -tagged", "tagged", "Feature not supported in this release [tagged]"},
	{"add lb monitor m9 RTSP", "RTSP", "Feature not supported in this release [type, RTSP]"},
	{"add lb monitor tcp-default TCP", "tcp-default", "Resource already exists [monitorName, tcp-default]"},
	{"add lb monitor m9 TCP -interval 1", "resptimeout", "Invalid argument [resptimeout, 2 SEC]: it must not be more than the interval of 1 SEC"},
	{"add lb monitor m9 TCP -interval 2 HOURS", "HOURS", "Invalid value [intervalUnit, HOURS]: it is one of SEC MSEC MIN"},
	{"add lb monitor m9 TCP -httpRequest \"GET /\"", "httpRequest", "Argument pre-requisite missing [httpRequest]: it is for monitors of type HTTP"},
	{"add lb monitor m9 HTTP -respCode 200 20", "20", "Invalid value [respCode, 20]: status codes of HTTP are numbers or ranges from 100 to 999, e.g. 200 300-302"},
	{"add lb monitor m9 TCP -send x", "send", "Argument pre-requisite missing [send]: it is for monitors of type TCP-ECV, HTTP-ECV, UDP-ECV"},
	{"add lb monitor m9 UDP-ECV -secure YES", "secure", "Argument pre-requisite missing [secure]: it is for monitors of type TCP, HTTP, TCP-ECV, HTTP-ECV, USER"},
	{"add lb monitor m9 PING -respCode 200", "respCode", "Argument pre-requisite missing [respCode]: it is for monitors of type HTTP, RADIUS"},
	{"bind service web1 -monitorName tcp -weight 101", "101", "Argument value out of range [weight, 1, 100]: 101 was given"},
	{"bind service all -monitorName tcp-ecv", "destPort", "Argument pre-requisite missing [destPort]: service all has no port of its own, so the monitor must name one"},
	{"add lb monitor m9 DNS", "query", "Required argument missing [query]: a monitor of type DNS needs it"},
	{"add lb monitor m9 DNS -query a..b", "a..b", "Invalid value [query, a..b]: a domain name has labels of 1-63 characters between dots, 253 in all; . is the root"},
	{"add lb monitor m9 DNS -query a -IPAddress 10.0.0.1 10.0.0.300", "IPAddress", "Invalid value [IPAddress, 10.0.0.300]: it is a list of IP addresses separated by spaces"},
	{"add lb monitor m9 RADIUS -userName u -password p", "radKey", "Required argument missing [radKey]: a monitor of type RADIUS needs it"},
	{"add lb monitor m9 RADIUS -userName u -password p -radKey k -respCode 300", "300", "Invalid value [respCode, 300]: codes of RADIUS are numbers or ranges from 1 to 255, e.g. 2-3"},
	{"add lb monitor m9 RADIUS -userName u -password p -radKey ********", "radKey", "Invalid value [radKey, ********]: that is how show hides a secret; give the secret itself"},
	{"add lb monitor m9 LDAP -bindDN cn=x", "baseDN", "Required argument missing [baseDN]: a monitor of type LDAP needs it"},
	{"add lb monitor m9 MYSQL -sqlQuery x", "userName", "Required argument missing [userName]: the query needs a user"},
	{"add lb monitor m9 SNMP -snmpOID 1.3.x", "1.3.x", "Invalid value [snmpOID, 1.3.x]: an OID is numbers between dots, e.g. 1.3.6.1.2.1.1.3.0"},
	{"add lb monitor m9 FTP -recv x", "recv", "Argument pre-requisite missing [recv]: it is for monitors of type TCP-ECV, HTTP-ECV, UDP-ECV"},
	{"add lb monitor m9 TCP -failureRetries 4", "failureRetries", "Invalid argument [failureRetries, 4]: it must not be more than the retries, which are 3"},
	{"add lb monitor m9 TCP -deviation 1", "LRTM", "Argument pre-requisite missing [LRTM]: deviation is from the average response time, which is learned with -LRTM ENABLED"},
	{"add lb monitor m9 TCP -transparent YES", "destIP", "Argument pre-requisite missing [destIP]: -transparent YES probes the address behind the server, e.g. the VIP"},
	{"add lb monitor m9 TCP -transparent YES -tos YES -tosId 3 -destIP 10.0.0.1", "tos", "Arguments exclude each other [-tos YES, -transparent YES]: a probe goes one way: choose one of them"},
	{"add lb monitor m9 TCP -ipTunnel YES -tos YES -transparent YES -destIP 10.0.0.1", "ipTunnel", "Arguments exclude each other [-ipTunnel YES, -tos YES, -transparent YES]: a probe goes one way: choose one of them"},
	{"add lb monitor m9 TCP -tos YES -destIP 10.0.0.1", "tosId", "Required argument missing [tosId]: with -tos YES the server knows destIP by it: give -tosId 1 to 63"},
	{"add lb monitor m9 TCP -destIP 224.0.0.1", "224.0.0.1", "Invalid IP address [destIP, 224.0.0.1]: it is not an address of a host"},
	{"add lb monitor m9 TCP -tosId 3", "tosId", "Argument pre-requisite missing [tosId, 3]: it is for -tos YES"},
	{"add lb monitor m9 TCP -tos YES -tosId 64 -destIP 10.0.0.1", "tosId", "Argument value out of range [tosId, 1, 63]: 64 was given"},
	{"add lb monitor m9 ARP -ipTunnel YES -destIP 10.0.0.1", "ARP", "Arguments exclude each other [-ipTunnel YES, ARP]: ARP asks for the server itself; use PING, or any type that connects"},
	{"add lb monitor m9 USER -scriptName x -tos YES -tosId 3 -destIP 10.0.0.1", "USER", "Arguments exclude each other [-tos YES, USER]: scripts send for themselves"},
	{"add lb monitor m9 TCP -action LOG", "action", "Feature not supported in this release [action, LOG]"},
	{"add lb monitor m9 LOAD", "metricTable", "Required argument missing [metricTable]: a monitor of type LOAD needs it"},
	{"add lb monitor m9 LOAD -metricTable none", "none", "No such resource [metricTable, none]"},
	{"bind lb monitor m-http -metric cpu", "m-http", "Invalid argument [monitorName, m-http]: metrics are for monitors of type LOAD, and this one is of type HTTP"},
	{"bind lb metricTable none cpu 1.3.6", "none", "No such resource [metricTable, none]"},
	{"add lb monitor m9 USER", "scriptName", "Required argument missing [scriptName]: a monitor of type USER needs it"},
	{"add lb monitor m9 USER -scriptName ../x", "../x", "Invalid value [scriptName, ../x]: it is the name of a file, of letters, digits, . _ and -, without a folder"},
	{"add lb monitor m9 USER -scriptName x -secure YES", "secure", "Argument pre-requisite missing [dispatcherIP]: this appliance runs the script itself, so there is nothing to secure"},
	{"add lb monitor m9 HTTP -httpRequest get", "get", "Invalid value [httpRequest, get]: a request is a method and a path, e.g. \"HEAD /\""},
	{"disable lb monitor", "serviceName", "Required argument missing [serviceName]"},
	{"disable lb monitor none", "none", "No such resource [serviceName, none]: it is neither a service nor a serviceGroup"},
	{"disable lb monitor web1 tcp-ecv", "tcp-ecv", "No such resource [monitorName, tcp-ecv]: it is not bound to service web1"},
	{"enable lb monitor web3", "monitorName", "No such resource [monitorName]: none is bound to service web3, which has the default monitor of its type; -healthMonitor NO does without"},
	{"rm lb monitor tcp-default TCP", "tcp-default", "Operation not permitted [tcp-default]: the monitor is built in and cannot be changed; add one of your own"},
	{"set lb monitor m-http TCP -retries 2", "TCP", "Invalid argument [type, TCP]: it is HTTP and cannot be changed"},
	{"unset lb monitor m-tcp -destPort", "destPort", "Argument pre-requisite missing [destPort]: service all has no port of its own, so the monitor must name one"},
	{"rm lb monitor m-http HTTP", "m-http", "Resource is in use [m-http]: it is bound to service web1"},
	{"enable ns feature LB SSL", "SSL", "Feature not supported in this release [feature, SSL]"},
	{"clear ns config everything", "everything", "Invalid value [level, everything]: it is one of basic extended full"},
	{"set cli mode -page MAYBE", "MAYBE", "Invalid value [page, MAYBE]: it is one of ON OFF"},
	{"disable lb vserver vip -graceFul YES", "graceFul", "Feature not supported in this release [graceFul, YES]"},
	{"disable service web1 -graceFul PERHAPS", "PERHAPS", "Invalid value [graceFul, PERHAPS]: it is one of YES NO"},
	{"disable service web1 -delay 30", "-delay", "No such argument [-delay]"},
	{"disable service web1 soon", "soon", "Expected a positive integer argument [delay, soon]"},
	{"disable service web1 31536001", "31536001", "Argument value out of range [delay, 0, 31536000]: 31536001 was given"},
	{"disable service web1 30 30", "30", "No such argument [30]"},
	{"disable serviceGroup pool s1 80 30", "30", "No such argument [30]"},
	{"disable serviceGroup pool s1 80 -delay", "delay", "Required argument missing [delay]"},
	{"enable service web1 -graceFul YES", "-graceFul", "No such argument [-graceFul]"},
	{"add service w9 s1 HTTP 90 -leavingSince 5", "-leavingSince", "No such argument [-leavingSince]"},
	{"stat lb vserver vip -clearstats full", "clearstats", "Feature not supported in this release [clearstats]"},
}

func TestWrongCommands(t *testing.T) {
	base := configOf(t, withGroups()...)
	before := Lines(base)
	if len(wrong) < 50 {
		t.Fatalf("%d rows", len(wrong))
	}
	for _, row := range wrong {
		after, err := do(base, row.line)
		switch {
		case err == nil:
			t.Errorf("%s: accepted", row.line)
			continue
		case err.Error() != row.want:
			t.Errorf("%s:\ngot  %s\nwant %s", row.line, err, row.want)
		case !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(row.fault)):
			t.Errorf("%s: %q does not name %q", row.line, err, row.fault)
		}
		if after != base || !slices.Equal(before, Lines(base)) {
			t.Fatalf("%s: changed the configuration", row.line)
		}
	}
}

// TestMetricsAreOfTheTable: neither the table's side nor the monitor's can leave a metric bound that the monitor's table lacks.
func TestMetricsAreOfTheTable(t *testing.T) {
	base := configOf(t, append(slices.Clone(labLines), "add lb metricTable t1", "add lb metricTable t2", "bind lb metricTable t1 cpu 1.3.6.1.0",
		"bind lb metricTable t1 mem 1.3.6.2.0", "bind lb metricTable t2 mem 1.3.6.2.0", "add lb monitor busy LOAD -metricTable t1", "bind lb monitor busy -metric cpu")...)
	for line, want := range map[string]string{
		"rm lb metricTable t1":                     "Resource is in use [t1]: lb monitor busy has it",
		"unbind lb metricTable t1 cpu":             "Resource is in use [cpu]: it is bound to lb monitor busy",
		"set lb monitor busy LOAD -metricTable t2": "Resource is in use [cpu]: it is bound to lb monitor busy and lb metricTable t2 lacks it; unbind it first",
	} {
		if after, err := do(base, line); err == nil || err.Error() != want || after != base {
			t.Errorf("%s:\ngot  %v\nwant %s", line, err, want)
		}
	}
	c, err := do(base, "unbind lb monitor busy -metric cpu")
	for _, line := range []string{"bind lb monitor busy -metric mem", "set lb monitor busy LOAD -metricTable t2"} { // which has it too
		if err == nil {
			c, err = do(c, line)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestManyNamesAllOrNothing: a line that names several rows changes none of them when one is wrong.
func TestManyNamesAllOrNothing(t *testing.T) {
	base := configOf(t, labLines...)
	if after, err := do(base, "rm service web1 web2 nobody"); err == nil || after != base {
		t.Errorf("err %v", err)
	}
}

func TestCheckFindsWhatOperationsRefuse(t *testing.T) {
	for _, row := range []struct {
		name  string
		spoil func(c *schema.Config)
		want  string
	}{
		{"service without server", func(c *schema.Config) { c.Delete(schema.Of[schema.Server](), "s1") }, "service web1: No such resource [serverName, s1]"},
		{"binding without service", func(c *schema.Config) { c.Delete(schema.Of[schema.Service](), "web2") }, "lb vserver vip web2: No such resource [serviceName, web2]"},
		{"VIP missing", func(c *schema.Config) { c.Delete(schema.Of[schema.NSIP](), "10.1.0.50") }, "lb vserver vip: No such resource [IPAddress, 10.1.0.50]: no ns ip has the address"},
		{"SNIP of gateway missing", func(c *schema.Config) { c.Delete(schema.Of[schema.NSIP](), "10.1.0.5") }, "route 0.0.0.0 0.0.0.0 10.1.0.1: The gateway is not directly reachable [10.1.0.1]: add a SNIP on its subnet first"},
		{"two servers with one address", func(c *schema.Config) {
			s := *schema.Get[schema.Server](c, "s1")
			s.Name = "twin"
			schema.Put(c, &s)
		}, "server twin: Server already exists [10.2.0.11]: it is server s1"},
		{"two vservers on one address and port", func(c *schema.Config) {
			v := *schema.Get[schema.LBVserver](c, "vip")
			v.Name, v.ServiceType = "twin", "TCP"
			schema.Put(c, &v)
		}, "lb vserver twin: Resource already exists [10.1.0.50:80, TCP]: it is lb vserver vip"},
		{"port in two VLANs", func(c *schema.Config) {
			schema.Put(c, &schema.VLAN{ID: 3})
			schema.Put(c, &schema.VLANInterface{ID: 3, Ifnum: "1/2"})
		}, "vlan 3 1/2: Resource already exists [ifnum, 1/2]: the port is in vlan 2"},
		{"address in two VLANs", func(c *schema.Config) {
			schema.Put(c, &schema.VLAN{ID: 3})
			b := *schema.All[schema.VLANIP](c)[0]
			b.ID = 3
			schema.Put(c, &b)
		}, "vlan 3 10.2.0.5: Resource already exists [IPAddress, 10.2.0.5]: it is bound to vlan 2"},
		{"two NSIPs", func(c *schema.Config) {
			for _, a := range []string{"10.1.0.5", "10.2.0.5"} {
				ip := *schema.Get[schema.NSIP](c, a)
				ip.Type = "NSIP"
				schema.Put(c, &ip)
			}
		}, "ns ip 10.2.0.5: Resource already exists [type, NSIP]: the NSIP is 10.1.0.5"},
		{"required field missing", func(c *schema.Config) { schema.Put(c, &schema.Server{Name: "x"}) }, "server x: Required argument missing [IPAddress]"},
		{"type mismatch", func(c *schema.Config) {
			schema.Put(c, &schema.LBVserverService{Vserver: "vip", Service: "echo1", Weight: 1})
		},
			"lb vserver vip echo1: Invalid argument [echo1]: the service is UDP and the vserver HTTP"},
	} {
		c := configOf(t, labLines...)
		row.spoil(c)
		if err := Check(c); err == nil || err.Error() != row.want {
			t.Errorf("%s:\ngot  %v\nwant %s", row.name, err, row.want)
		}
	}
}
