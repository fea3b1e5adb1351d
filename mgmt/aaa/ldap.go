package aaa

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"

	"sluice/vendor-config/schema"
)

// A server cannot make us keep an answer without end.
func init() { ber.MaxPacketLengthBytes = 1 << 20 }

type ldapServer struct{ *schema.LDAPAction }

func (l *ldapServer) name() string { return l.Name }

// login finds the user's entry and binds as it. Nobody is let in by a name that is found twice, nor by an empty password, with
// which a directory lets anybody bind (RFC 4513 section 5.1.2).
func (l *ldapServer) login(ctx context.Context, user, plain string) ([]string, error) {
	if plain == "" {
		return nil, errRejected
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l.AuthTimeout)*time.Second)
	defer cancel()
	raw, c, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	entry, err := l.find(c, user)
	if err != nil {
		return nil, err
	}
	if err := c.Bind(entry.DN, plain); ldap.IsErrorWithCode(err, ldap.LDAPResultInvalidCredentials) {
		return nil, errRejected
	} else if err != nil {
		return nil, fmt.Errorf("the user's bind: %w", err)
	}
	return l.groups(entry), nil
}

// dial connects, with TLS if it is asked for. It also returns the connection itself, by which a silent server is left.
func (l *ldapServer) dial(ctx context.Context) (net.Conn, *ldap.Conn, error) {
	host := l.ServerIP.String()
	if l.Hostname != "" {
		host = l.Hostname
	}
	secure := &tls.Config{ServerName: host, InsecureSkipVerify: l.ValidateCert != "YES", MinVersion: tls.VersionTLS12}
	d := net.Dialer{}
	raw, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(l.ServerIP, l.ServerPort).String())
	if err != nil {
		return nil, nil, err
	}
	if l.SecType == "SSL" {
		t := tls.Client(raw, secure)
		if err := t.HandshakeContext(ctx); err != nil {
			raw.Close()
			return nil, nil, fmt.Errorf("TLS: %w", err)
		}
		raw = t
	}
	c := ldap.NewConn(raw, l.SecType == "SSL")
	c.SetTimeout(time.Duration(l.AuthTimeout) * time.Second)
	c.Start()
	if l.SecType == "TLS" {
		if err := c.StartTLS(secure); err != nil {
			c.Close()
			return nil, nil, fmt.Errorf("STARTTLS: %w", err)
		}
	}
	return raw, c, nil
}

// find is the one entry of the user.
func (l *ldapServer) find(c *ldap.Conn, user string) (*ldap.Entry, error) {
	var err error
	if l.BindDN != "" {
		err = c.Bind(l.BindDN, l.BindPassword)
	} else {
		err = c.UnauthenticatedBind("")
	}
	if err != nil {
		return nil, fmt.Errorf("the bind of ldapBindDn: %w", err)
	}
	filter := "(" + l.LoginName + "=" + ldap.EscapeFilter(user) + ")"
	if l.SearchFilter != "" {
		more := l.SearchFilter
		if !strings.HasPrefix(more, "(") || !strings.HasSuffix(more, ")") {
			more = "(" + more + ")"
		}
		filter = "(&" + filter + more + ")"
	}
	const most = 2 // more than one is one too many
	found, err := c.Search(ldap.NewSearchRequest(l.Base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, most, int(l.AuthTimeout), false,
		filter, []string{l.GroupAttr}, nil))
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject):
		return nil, fmt.Errorf("the directory has no entry %s (ldapBase)", l.Base)
	case err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded):
		return nil, fmt.Errorf("the search: %w", err)
	case found == nil || len(found.Entries) == 0:
		return nil, fmt.Errorf("%w: the directory has no such user", errRejected)
	case len(found.Entries) > 1 || err != nil:
		return nil, fmt.Errorf("%w: the directory has more than one entry of that name", errRejected)
	case found.Entries[0].DN == "":
		return nil, errors.New("the user's entry has no name")
	}
	return found.Entries[0], nil
}

// groups are the names in the distinguished names of the user's groups, or the values themselves where they are none.
func (l *ldapServer) groups(e *ldap.Entry) (groups []string) {
	if l.DefaultGroup != "" {
		groups = append(groups, l.DefaultGroup)
	}
	for _, value := range e.GetEqualFoldAttributeValues(l.GroupAttr) {
		dn, err := ldap.ParseDN(value)
		if err != nil || len(dn.RDNs) == 0 {
			groups = append(groups, value)
			continue
		}
		for _, part := range dn.RDNs[0].Attributes {
			if strings.EqualFold(part.Type, l.SubAttr) {
				groups = append(groups, part.Value)
			}
		}
	}
	return groups
}
