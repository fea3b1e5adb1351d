package schema

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// RootUser is always there and may do everything. It is a row only once it is set.
const RootUser = "nsroot"

// SystemUser is an account of an administrator. One that has neither a password nor a key logs in by a server of accounts only.
type SystemUser struct {
	Name         string `cli:"userName" key:"1" max:"64" syntax:"account" help:"Name of the user"`
	Password     string `cli:"password" pos:"2" only:"add,set" secret:"yes" seal:"yes" max:"255" help:"Password of at most 127 bytes, of which the hash alone is kept; a hash is taken as it is"`
	ExternalAuth string `cli:"externalAuth" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Servers of accounts are asked for the user, if there are any; with DISABLED only the password here counts"`
	PromptString string `cli:"promptString" max:"63" help:"Prompt of the user's sessions; %u user, %h host name, %T time, %d date, %! number of the command"`
	Timeout      uint32 `cli:"timeout" min:"10" max:"100000000" unit:"seconds" help:"Time without a key after which a session of the user ends; without it that of a group or of system parameter"`
	MaxSession   uint8  `cli:"maxsession" min:"1" max:"40" def:"20" help:"Sessions that the user may have at once"`

	ForcePasswordChange string `cli:"forcePasswordChange" enum:"ENABLED,DISABLED" def:"DISABLED" help:"With ENABLED the user must choose another password at the next login before anything else works; then it is DISABLED again"`

	PasswordChanged uint64 `cli:"passwordChanged" kept:"yes" max:"253402300799999" help:"When the password was last set by a command, in milliseconds since 1970"`
}

// PasswordEnds is when the password here must be changed; zero for one that never must: none is set here, passwords do not expire, or
// its age is not known, as that of one which a file has brought.
func (u *SystemUser) PasswordEnds(p *SystemParameter) time.Time {
	if u.Password == "" || u.PasswordChanged == 0 || p.DaysToExpire == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(u.PasswordChanged)).Add(time.Duration(p.DaysToExpire) * 24 * time.Hour)
}

// SystemUserPolicy binds a command policy to a user.
type SystemUserPolicy struct {
	User     string `cli:"userName" key:"1" ref:"system user" help:"Name of the user"`
	Policy   string `cli:"policyName" key:"2" ref:"system cmdPolicy" within:"yes" help:"Name of the command policy"`
	Priority uint32 `cli:"priority" pos:"3" only:"bind" def:"0" max:"999999999" help:"Policies of lower numbers are asked first, and the first that fits the command decides"`
}

// SystemUserKey is a public key that a user logs in with.
type SystemUserKey struct {
	User string `cli:"userName" key:"1" ref:"system user" help:"Name of the user"`
	Key  string `cli:"publicKey" key:"2" keyword:"yes" max:"2047" syntax:"publickey" help:"Line of an OpenSSH public key file, quoted, e.g. \"ssh-ed25519 AAAA... name\""`
}

// SystemGroup is a group of administrators.
type SystemGroup struct {
	Name         string `cli:"groupName" key:"1" max:"64" syntax:"name" help:"Name of the group; a server of accounts may tell that a user belongs to it"`
	PromptString string `cli:"promptString" max:"63" help:"Prompt of the members' sessions"`
	Timeout      uint32 `cli:"timeout" min:"10" max:"100000000" unit:"seconds" help:"Time without a key after which a session of a member ends"`
}

// SystemGroupUser makes a user a member of a group.
type SystemGroupUser struct {
	Group string `cli:"groupName" key:"1" ref:"system group" help:"Name of the group"`
	User  string `cli:"userName" key:"2" keyword:"yes" ref:"system user" help:"Name of the user"`
}

// SystemGroupPolicy binds a command policy to the members of a group.
type SystemGroupPolicy struct {
	Group    string `cli:"groupName" key:"1" ref:"system group" help:"Name of the group"`
	Policy   string `cli:"policyName" key:"2" keyword:"yes" ref:"system cmdPolicy" help:"Name of the command policy"`
	Priority uint32 `cli:"priority" after:"policyName" only:"bind" def:"0" max:"999999999" help:"Policies of lower numbers are asked first"`
}

// SystemCmdPolicy allows or denies commands. What fits no policy of a user is denied.
type SystemCmdPolicy struct {
	Name    string `cli:"policyName" key:"1" max:"64" syntax:"name" help:"Name of the command policy"`
	Action  string `cli:"action" pos:"2" required:"yes" only:"add,set" enum:"ALLOW,DENY" help:"What becomes of a command that fits"`
	CmdSpec string `cli:"cmdSpec" pos:"3" required:"yes" only:"add,set" max:"1023" syntax:"pattern" help:"Regular expression for whole commands in full words, e.g. \"^show lb .*\""`
}

// SystemParameter is what holds for all sessions and accounts.
type SystemParameter struct {
	Timeout        uint32 `cli:"timeout" min:"10" max:"100000000" def:"900" unit:"seconds" help:"Time without a key after which a session ends"`
	PromptString   string `cli:"promptString" max:"63" help:"Prompt of all sessions"`
	LocalAuth      string `cli:"localAuth" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Users with a password here may log in though a server of accounts refuses them; with DISABLED only when none answers"`
	MinPasswordLen uint8  `cli:"minpasswordlen" min:"1" max:"127" def:"1" help:"Least length of a new password"`
	StrongPassword string `cli:"strongpassword" enum:"enableall,enablelocal,disabled" def:"disabled" help:"A new password needs 8 characters, among them a small and a capital letter, a digit and another character"`

	// Of later releases of the reference product than that of our command cards, whose names and ranges these are.
	DaysToExpire   uint8 `cli:"daysToExpire" min:"30" max:"255" unit:"days" help:"Age at which a password here must be changed at the next login, before anything else works; without it passwords do not expire"`
	WarnPriorNDays uint8 `cli:"warnPriorNDays" min:"5" max:"40" def:"14" unit:"days" help:"How long before that the log warns"`
}

// SystemSession is a session that is going on.
type SystemSession struct {
	ID  uint64 `cli:"sid" pos:"1" min:"1" help:"Number of the session"`
	All string `cli:"all" flag:"yes" only:"kill" help:"All sessions but this one"`
}

func init() {
	register[SystemUser]("system user", "system-user", "add set unset rm show", "Account of an administrator", true)
	unbuilt[SystemUser]("logging=DISABLED allowedManagementInterface")
	register[SystemUserPolicy]("system user", "system-user-policy", "bind unbind", "Command policy bound to a user", true)
	unbuilt[SystemUserPolicy]("partitionName")
	register[SystemUserKey]("system user", "system-user-key", "bind unbind", "Public key that a user logs in with", true)
	register[SystemGroup]("system group", "system-group", "add set unset rm show", "Group of administrators", true)
	unbuilt[SystemGroup]("allowedManagementInterface")
	register[SystemGroupUser]("system group", "system-group-user", "bind unbind", "Member of a group", true)
	unbuilt[SystemGroupUser]("partitionName")
	register[SystemGroupPolicy]("system group", "system-group-policy", "bind unbind", "Command policy bound to a group", true)
	register[SystemCmdPolicy]("system cmdPolicy", "system-cmd-policy", "add set rm show", "Which commands are allowed or denied", true)
	register[SystemParameter]("system parameter", "system-parameter", "set unset show", "What holds for all sessions and accounts", true)
	unbuilt[SystemParameter]("rbaOnResponse=ENABLED natPcbForceFlushLimit=2147483647 natPcbRstOnTimeout=DISABLED restrictedtimeout=DISABLED " +
		"fipsUserMode=DISABLED doppler=ENABLED|DISABLED googleanalytics=DISABLED totalAuthTimeout=20 cliLoglevel=INFORMATIONAL " +
		"forcePasswordChange=DISABLED basicAuth=ENABLED|DISABLED")
	register[SystemSession]("system session", "system-session", "show kill", "Sessions that are going on", false)
}

// SuperuserRole is the role that may do everything.
const SuperuserRole = "superuser"

// BuiltinCmdPolicies are the roles that are always there. They are not rows, are never written and cannot be changed.
var BuiltinCmdPolicies = []*SystemCmdPolicy{
	{Name: "read-only", Action: "ALLOW", CmdSpec: readOnly},
	{Name: "operator", Action: "ALLOW", CmdSpec: readOnly + `|^(enable|disable) (server|service|serviceGroup|lb vserver|lb monitor|cs vserver|cr vserver)\b.*`},
	{Name: "network", Action: "ALLOW", CmdSpec: `^(?!\S+ (` + guarded + `)\b)(?!(shell|scp|batch|source|reboot|shutdown|install|set image|import|load|restore|rollback|commit)\b)(?!(clear|diff|validate) ns config\b).*`},
	{Name: SuperuserRole, Action: "ALLOW", CmdSpec: `.*`},
}

// guarded are the objects that only the role superuser reads and changes: who may do what, and the configuration as a whole, also
// lines that are kept word for word, which may be about anything.
const guarded = `system|authentication|aaa|ns (ns\.conf|runningConfig|savedConfig|line|config -(candidate|history|version))|techsupport`

const readOnly = `^(stat (?!system\b).*|show (?!(` + guarded + `)\b).*)`

// CmdPolicyNamed finds a command policy, configured or built in, or nil.
func CmdPolicyNamed(c *Config, name string) *SystemCmdPolicy {
	for _, p := range BuiltinCmdPolicies {
		if p.Name == name {
			return p
		}
	}
	return Get[SystemCmdPolicy](c, name)
}

// patternTime is how long one command may be held against one policy: patterns with much to try take time without end.
const patternTime = 100 * time.Millisecond

// Pattern is the regular expression of a command policy, in the dialect of the reference product: with lookahead.
func Pattern(s string, ignoreCase bool) (*regexp2.Regexp, error) {
	options := regexp2.RegexOptions(regexp2.None)
	if ignoreCase {
		options |= regexp2.IgnoreCase
	}
	re, err := regexp2.Compile(s, options)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTime
	return re, nil
}

// patternFault: a regular expression.
func patternFault(s string) string {
	if _, err := Pattern(s, false); err != nil {
		return "it is no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	return ""
}

// accountFault: user names are what other systems accept as such.
func accountFault(s string) string {
	if s == "" || s[0] == '-' || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@") != "" {
		return "the name of a user is letters, digits and . _ - @ and does not begin with -"
	}
	return ""
}

// keyTypes are the kinds of public keys that open the door; DSA and keys in hardware that asks for more do not.
var keyTypes = strings.Fields("ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 ssh-rsa")

// publicKeyFault: type, key in base64 that begins with the same type (RFC 4253 section 6.6), comment.
func publicKeyFault(s string) string {
	const fault = "it is a line of an OpenSSH public key file, e.g. \"ssh-ed25519 AAAA... name\""
	part := strings.SplitN(s, " ", 3)
	if len(part) < 2 || !slices.Contains(keyTypes, part[0]) {
		return fault
	}
	key, err := base64.StdEncoding.DecodeString(part[1])
	n := uint32(len(part[0]))
	if err != nil || len(key) < 4+int(n)+16 || binary.BigEndian.Uint32(key) != n || string(key[4:4+n]) != part[0] {
		return fault
	}
	return ""
}
