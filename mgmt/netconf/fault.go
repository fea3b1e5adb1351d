package netconf

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"sluice/vendor-config/schema"
)

// fault is an rpc-error (RFC 6241 section 4.3).
type fault struct {
	layer string // rpc, protocol or application
	tag   string
	path  string // of the node at fault, in our module; "" when it is none
	text  string
	kind  string      // error-app-tag
	info  [][2]string // children of error-info
}

func (f *fault) Error() string { return f.text }

// refuse makes a fault of the protocol layer.
func refuse(tag, text string, info ...string) *fault {
	f := &fault{layer: "protocol", tag: tag, text: text}
	for i := 0; i+1 < len(info); i += 2 {
		f.info = append(f.info, [2]string{info[i], info[i+1]})
	}
	return f
}

// wrong makes a fault of the application layer, about a node of the configuration.
func wrong(tag, path, text string, info ...string) *fault {
	f := refuse(tag, text, info...)
	f.layer, f.path = "application", path
	return f
}

// faultOf makes a fault of what the appliance says.
func faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	var r *schema.Refusal
	tag := "operation-failed"
	if errors.As(err, &r) {
		switch r.Text {
		case schema.NotPermitted:
			tag = "access-denied"
		case schema.NoSuchRow, schema.Missing:
			tag = "data-missing"
		case schema.RowExists:
			tag = "data-exists"
		case schema.BadValue, schema.BadAddress, schema.BadNumber, schema.OutOfRange, schema.TooLong, schema.BadArgument:
			tag = "invalid-value"
		case schema.NotSupported:
			tag = "operation-not-supported"
		case schema.RowInUse:
			tag = "in-use"
		}
	}
	return wrong(tag, "", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// located makes a fault of what the appliance says of a whole configuration: at the first reference that leads nowhere and must
// not, if there is one.
func located(err error, c *schema.Config) error {
	var f *fault
	if err == nil || c == nil || errors.As(err, &f) {
		return err
	}
	for _, o := range schema.Objects() {
		for row := range c.Each(o) {
			ref, _ := o.Dangling(c, row)
			if ref == nil {
				continue
			}
			f := wrong("data-missing", rootPath+"/sluice:"+o.YANG+predicates(o, reflect.ValueOf(row).Elem())+"/sluice:"+ref.YANG, err.Error())
			f.kind = "instance-required" // RFC 7950 section 15.5
			return f
		}
	}
	return err
}

func (f *fault) write(b *bytes.Buffer) {
	b.WriteString("<rpc-error>")
	leafText(b, "error-type", f.layer)
	leafText(b, "error-tag", f.tag)
	leafText(b, "error-severity", "error")
	if f.kind != "" {
		leafText(b, "error-app-tag", f.kind)
	}
	if f.path != "" {
		fmt.Fprintf(b, `<error-path xmlns:sluice="%s">`, ownNS)
		escape(b, f.path)
		b.WriteString("</error-path>")
	}
	b.WriteString(`<error-message xml:lang="en">`)
	escape(b, valid(f.text))
	b.WriteString("</error-message>")
	if len(f.info) > 0 {
		b.WriteString("<error-info>")
		for _, i := range f.info {
			leafText(b, i[0], valid(i[1]))
		}
		b.WriteString("</error-info>")
	}
	b.WriteString("</rpc-error>")
}

// valid bounds a text that a client may have made up.
func valid(s string) string {
	const most = 1000
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}
