package show

import (
	"strconv"

	"sluice/vendor-config/schema"
)

func text(n uint64) string { return strconv.FormatUint(n, 10) }

func showRadiusAction(p *page) error {
	rows, one, err := chosen[schema.RadiusAction](p)
	if err != nil {
		return err
	}
	for i, r := range rows {
		p.number(i, one)
		p.f("Name: %s\n\t\tServer: %s:%d\tTimeout: %d sec\tTries: %d\tKey: %s\n", r.Name, r.ServerIP, r.ServerPort, r.AuthTimeout, r.Retries, schema.Hidden)
		p.setting("NAS identifier", r.RadNASID)
		if r.RadAttribute > 0 {
			p.f("\t\tGroups: vendor %d, attribute %d, prefix %q, separator %q\n", r.RadVendorID, r.RadAttribute, r.RadGroupPrefix, r.RadGroupSep)
		}
		p.setting("Default group", r.DefaultGroup)
	}
	return nil
}

func showLDAPAction(p *page) error {
	rows, one, err := chosen[schema.LDAPAction](p)
	if err != nil {
		return err
	}
	for i, r := range rows {
		p.number(i, one)
		p.f("Name: %s\n\t\tServer: %s:%d\tTimeout: %d sec\tSecurity: %s\tCertificate verified: %s\n", r.Name, r.ServerIP, r.ServerPort, r.AuthTimeout, r.SecType, r.ValidateCert)
		p.setting("Base", r.Base)
		p.setting("Bind DN", r.BindDN)
		p.f("\t\tLogin name: %s\tGroup attribute: %s\tSub attribute: %s\n", r.LoginName, r.GroupAttr, r.SubAttr)
		p.setting("Search filter", r.SearchFilter)
		p.setting("Default group", r.DefaultGroup)
	}
	return nil
}

// serverPolicy tells of a policy and where it is bound.
func (p *page) serverPolicy(i int, one bool, name, rule, action string) {
	p.number(i, one)
	p.f("Name: %s\tRule: %s\tServer: %s\n", name, rule, action)
	if b := schema.Get[schema.SystemGlobal](p.Config, name); b != nil {
		p.f("\t\tBound to: system global\tPriority: %d\n", b.Priority)
	}
}

func showServerPolicies[T any](of func(*T) (name, rule, action string)) func(p *page) error {
	return func(p *page) error {
		rows, one, err := chosen[T](p)
		for i, r := range rows {
			name, rule, action := of(r)
			p.serverPolicy(i, one, name, rule, action)
		}
		return err
	}
}

func showSystemGlobal(p *page) error {
	for i, b := range schema.All[schema.SystemGlobal](p.Config) {
		p.number(i, false)
		p.f("Policy: %s\tPriority: %d\n", b.Policy, b.Priority)
	}
	return nil
}
