package netconf

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/vendor-config/yang"
)

// Versions of the protocol.
const (
	base10 = "urn:ietf:params:netconf:base:1.0"
	base11 = "urn:ietf:params:netconf:base:1.1"
)

// session is one client.
type session struct {
	server *Server
	who    Peer
	began  time.Time
	in     *reader
	out    io.Writer
	end    context.CancelFunc
	closes bool // after the answer
	parts  int  // elements of the request that is worked on, of the server's
}

// capabilities are what the server can do. XPath and url are not built.
func capabilities() []string {
	all := []string{base10, base11}
	for _, c := range []string{"writable-running:1.0", "candidate:1.0", "confirmed-commit:1.1", "rollback-on-error:1.0", "validate:1.1", "startup:1.0",
		"with-defaults:1.0?basic-mode=trim&also-supported=report-all,report-all-tagged"} {
		all = append(all, "urn:ietf:params:netconf:capability:"+c)
	}
	all = append(all, monitoringNS+"?module=ietf-netconf-monitoring&revision=2010-10-04")
	for _, m := range yang.Modules() {
		all = append(all, fmt.Sprintf("%s?module=%s&revision=%s", m.Namespace, m.Name, m.Revision))
	}
	return all
}

// run is the session from the greetings to its end.
func (ss *session) run(ctx context.Context) {
	log := ss.server.log.With("user", ss.who.User, "source", ss.who.Source, "session", ss.who.ID)
	defer func() {
		if f := recover(); f != nil { // one session's fault must not end the others, nor the engine
			log.Error("fault in a NETCONF session", "fault", f, "stack", string(debug.Stack()))
		}
	}()
	late := time.AfterFunc(ss.server.patience, ss.end)
	err := ss.greet()
	if late.Stop(); err != nil {
		log.Warn("NETCONF session refused", "error", err)
		return
	}
	for ctx.Err() == nil && !ss.closes {
		msg, err := ss.in.next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || ctx.Err() != nil {
			return
		}
		var answer []byte
		if err == nil {
			answer = ss.answer(msg)
		} else {
			answer = unreadable(err)
			ss.closes = true
			log.Warn("NETCONF session ends", "error", err)
		}
		if err := ss.reply(answer); err != nil {
			log.Warn("NETCONF session ends", "error", err)
			return
		}
	}
}

// parse reads a message within the elements that all sessions together may hold.
func (ss *session) parse(msg []byte) (*element, error) {
	return parse(msg, func() error {
		if !ss.server.parts.take(partStep) {
			return errTooMuch
		}
		ss.parts += partStep
		return nil
	})
}

// done gives back what the request has held.
func (ss *session) done() {
	ss.in.close()
	ss.server.parts.give(ss.parts)
	ss.parts = 0
}

// reply sends an answer, which counts for the budget like a message. A client that does not take it in time is sent away.
func (ss *session) reply(answer []byte) error {
	ss.done()
	if !ss.server.budget.take(len(answer)) {
		answer = unreadable(errTooMuch)
	} else {
		defer ss.server.budget.give(len(answer))
	}
	late := time.AfterFunc(ss.server.patience, ss.end)
	defer late.Stop()
	return send(ss.out, answer, ss.in.chunked)
}

// greet exchanges the greetings (RFC 6241 section 8.1). Both speak at once.
func (ss *session) greet() error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s<hello xmlns=%q><capabilities>", xml.Header, baseNS)
	for _, c := range capabilities() {
		leafText(&b, "capability", c)
	}
	fmt.Fprintf(&b, "</capabilities><session-id>%d</session-id></hello>", ss.who.ID)
	sent := make(chan error, 1)
	go func() { sent <- send(ss.out, b.Bytes(), false) }()
	msg, err := ss.in.next()
	if err != nil {
		return err
	}
	if err := <-sent; err != nil {
		return err
	}
	defer ss.done()
	hello, err := ss.parse(msg)
	if err != nil {
		return err
	}
	if hello.name != (xml.Name{Space: baseNS, Local: "hello"}) || hello.kid("session-id") != nil {
		return errors.New("the client does not begin with a greeting")
	}
	var versions []string
	if c := hello.kid("capabilities"); c != nil {
		for _, k := range c.kids {
			versions = append(versions, k.value())
		}
	}
	switch {
	case slices.Contains(versions, base11):
		ss.in.chunked = true
	case !slices.Contains(versions, base10):
		return errors.New("the client speaks no version of NETCONF that this server does")
	}
	ss.in.limit = maxMessage
	return nil
}

// unreadable is the answer to what is no message.
func unreadable(err error) []byte {
	f := &fault{layer: "rpc", tag: "malformed-message", text: err.Error()}
	if errors.Is(err, errTooBig) {
		f.tag = "too-big"
	} else if errors.Is(err, errTooMuch) {
		f.tag = "resource-denied"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<rpc-reply xmlns=%q>", baseNS)
	f.write(&b)
	b.WriteString("</rpc-reply>")
	return b.Bytes()
}

// answer works on one message and makes the reply to it, which bears the attributes of the request.
func (ss *session) answer(msg []byte) []byte {
	rpc, err := ss.parse(msg)
	if err != nil {
		return unreadable(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s<rpc-reply xmlns=%q", xml.Header, baseNS)
	attributes(&b, rpc.attrs)
	b.WriteString(">")
	start := b.Len()
	if f := ss.work(&b, rpc); f != nil {
		b.Truncate(start)
		f.write(&b)
	} else if b.Len() == start {
		b.WriteString("<ok/>")
	}
	b.WriteString("</rpc-reply>")
	return b.Bytes()
}

// attributes writes the attributes of a request back (RFC 6241 section 4.2), prefixes declared anew.
func attributes(b *bytes.Buffer, attrs []xml.Attr) {
	for i, a := range attrs {
		switch {
		case a.Name.Local == "xmlns" || a.Name.Space == "xmlns":
			continue
		case a.Name.Space != "":
			fmt.Fprintf(b, ` xmlns:a%d="`, i)
			escape(b, a.Name.Space)
			fmt.Fprintf(b, `" a%d:%s="`, i, a.Name.Local)
		default:
			fmt.Fprintf(b, ` %s="`, a.Name.Local)
		}
		escape(b, a.Value)
		b.WriteString(`"`)
	}
}

// work does what a request asks for and writes the content of the reply, nothing for ok.
func (ss *session) work(b *bytes.Buffer, rpc *element) (f *fault) {
	operation := ""
	defer func() {
		if p := recover(); p != nil {
			ss.server.log.Error("fault in a NETCONF operation", "operation", operation, "fault", p, "stack", string(debug.Stack()))
			f = wrong("operation-failed", "", "Internal error; the log says more")
		}
	}()
	if rpc.name != (xml.Name{Space: baseNS, Local: "rpc"}) {
		return &fault{layer: "rpc", tag: "malformed-message", text: "a request is an rpc element"}
	}
	if !slices.ContainsFunc(rpc.attrs, func(a xml.Attr) bool { return a.Name.Space == "" && a.Name.Local == "message-id" }) {
		return &fault{layer: "rpc", tag: "missing-attribute", text: "a request bears a message-id",
			info: [][2]string{{"bad-attribute", "message-id"}, {"bad-element", "rpc"}}}
	}
	if len(rpc.kids) != 1 {
		return refuse("operation-failed", "a request holds one operation")
	}
	op := rpc.kids[0]
	operation = op.name.Local
	do := operations[op.name]
	if do == nil {
		return refuse("operation-not-supported", fmt.Sprintf("the operation %q is not built", valid(operation)), "bad-element", operation)
	}
	err := do(ss, b, op)
	log := ss.server.log.With("user", ss.who.User, "source", ss.who.Source, "session", ss.who.ID, "operation", operation)
	if err != nil {
		f = faultOf(err)
		log.Warn("NETCONF", "result", "ERROR: "+valid(f.text))
		return f
	}
	if !strings.HasPrefix(operation, "get") {
		log.Info("NETCONF", "result", "Done")
	}
	return nil
}

// operations are what a request can ask for.
var operations map[xml.Name]func(*session, *bytes.Buffer, *element) error

func init() {
	operations = map[xml.Name]func(*session, *bytes.Buffer, *element) error{{Space: monitoringNS, Local: "get-schema"}: (*session).getSchema}
	for name, do := range map[string]func(*session, *bytes.Buffer, *element) error{
		"get": (*session).get, "get-config": (*session).getConfig, "edit-config": (*session).editConfig, "copy-config": (*session).copyConfig,
		"delete-config": (*session).deleteConfig, "lock": (*session).lock, "unlock": (*session).unlock, "validate": (*session).validate,
		"commit": (*session).commit, "cancel-commit": (*session).cancelCommit, "discard-changes": (*session).discard,
		"close-session": (*session).closeSession, "kill-session": (*session).killSession,
	} {
		operations[xml.Name{Space: baseNS, Local: name}] = do
	}
}

func (ss *session) closeSession(*bytes.Buffer, *element) error {
	ss.closes = true
	return nil
}

func (ss *session) killSession(_ *bytes.Buffer, op *element) error {
	if op.kid("session-id") == nil {
		return refuse("missing-element", "which session?", "bad-element", "session-id")
	}
	id, err := strconv.ParseUint(op.kid("session-id").value(), 10, 32)
	if err != nil || uint32(id) == ss.who.ID {
		return refuse("invalid-value", "a session-id is the number of another session", "bad-element", "session-id")
	}
	if err := ss.may(fmt.Sprintf("kill system session %d", id)); err != nil {
		return err
	}
	if !ss.server.kill(uint32(id)) {
		return refuse("invalid-value", fmt.Sprintf("there is no NETCONF session %d", id), "bad-element", "session-id")
	}
	return nil
}
