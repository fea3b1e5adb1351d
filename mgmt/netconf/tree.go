package netconf

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Namespaces of the protocol and of our data.
const (
	baseNS       = "urn:ietf:params:xml:ns:netconf:base:1.0"
	monitoringNS = "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring"
	withDefNS    = "urn:ietf:params:xml:ns:yang:ietf-netconf-with-defaults"
	defaultNS    = "urn:ietf:params:xml:ns:netconf:default:1.0"
	ownNS        = "urn:sluice:config"
)

// Limits of a message's tree.
const (
	maxDepth = 64
	maxAttrs = 64   // of one element
	partStep = 1000 // elements for which room is asked at once
)

// element is an element of a message.
type element struct {
	name  xml.Name // with its namespace
	attrs []xml.Attr
	kids  []*element
	text  []byte // between its tags, without that of its children
}

// parse reads a message. What is no part of XML as NETCONF uses it is refused: document types, and with them entities. room is asked
// before each partStep elements.
func parse(data []byte, room func() error) (*element, error) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	var root *element
	var open []*element
	elements := 0
	for {
		t, err := dec.Token()
		switch {
		case err == io.EOF && root != nil:
			return root, nil
		case err == io.EOF:
			return nil, errors.New("the message is empty")
		case err != nil:
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if len(open) >= maxDepth || len(t.Attr) > maxAttrs {
				return nil, errors.New("the message is nested too deeply or has too many parts")
			}
			if elements++; elements%partStep == 1 {
				if err := room(); err != nil {
					return nil, err
				}
			}
			e := &element{name: t.Name}
			if len(t.Attr) > 0 {
				e.attrs = t.Copy().Attr
			}
			switch {
			case len(open) > 0:
				parent := open[len(open)-1]
				parent.kids = append(parent.kids, e)
			case root != nil:
				return nil, errors.New("the message has two roots")
			default:
				root = e
			}
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) == 0 {
				if len(bytes.TrimSpace(t)) > 0 {
					return nil, errors.New("there is text outside the message's root")
				}
				continue
			}
			e := open[len(open)-1]
			if len(e.kids) == 0 || len(bytes.TrimSpace(t)) > 0 {
				e.text = append(e.text, t...)
			}
		case xml.Directive:
			return nil, errors.New("a document type declaration is refused")
		}
	}
}

// kid finds the first child of a name; the namespace is the protocol's.
func (e *element) kid(local string) *element {
	if e == nil {
		return nil
	}
	for _, k := range e.kids {
		if k.name.Local == local && (k.name.Space == e.name.Space || k.name.Space == baseNS) {
			return k
		}
	}
	return nil
}

// in finds the first child of a name in a namespace.
func (e *element) in(space, local string) *element {
	for _, k := range e.kids {
		if k.name.Local == local && k.name.Space == space {
			return k
		}
	}
	return nil
}

// value is the element's text without blanks around it, "" for none.
func (e *element) value() string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(string(e.text))
}

// attr is an attribute of the protocol.
func (e *element) attr(local string) string {
	for _, a := range e.attrs {
		if a.Name.Local == local && (a.Name.Space == baseNS || a.Name.Space == "") {
			return a.Value
		}
	}
	return ""
}

// escape writes text as the content of an element or an attribute.
func escape(b *bytes.Buffer, s string) { _ = xml.EscapeText(b, []byte(s)) } // a buffer does not fail

// leafText writes an element that holds text.
func leafText(b *bytes.Buffer, name, text string) {
	fmt.Fprintf(b, "<%s>", name)
	escape(b, text)
	fmt.Fprintf(b, "</%s>", name)
}
