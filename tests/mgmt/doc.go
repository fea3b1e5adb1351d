// Package mgmt holds rows about the running management: what operators, attackers and bad luck do to it in a lab of its
// own. What a single package can show is tested there.
package mgmt
