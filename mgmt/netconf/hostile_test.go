package netconf

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// ended waits until the server has closed the session and returns what it said last.
func (c *client) ended() string {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	rest, err := io.ReadAll(c.conn)
	if err != nil {
		c.t.Fatalf("the session does not end: %v", err)
	}
	return string(rest)
}

func TestGreetings(t *testing.T) {
	for name, first := range map[string]string{
		"no XML": "hello", "not a hello": `<rpc xmlns="` + baseNS + `"/>`, "other namespace": "<hello/>", "a session-id": strings.Replace(hello(base10), "</hello>", "<session-id>1</session-id></hello>", 1),
		"no version": hello("urn:x"), "empty": "", "a document type": `<!DOCTYPE hello [<!ENTITY a "b">]>` + hello(base10), "too long": strings.Repeat(" ", maxHello+1) + hello(base10),
	} {
		b := newBench(t)
		c := b.dial("nsroot")
		go io.WriteString(c.conn, first+endOfMessage)
		if got := c.ended(); strings.Contains(got, "rpc-reply") {
			t.Errorf("%s: %s", name, got)
		}
	}
	b := newBench(t)
	c := b.dial("nsroot") // NETCONF 1.0 throughout, in small pieces
	for _, piece := range strings.SplitAfter(hello(base10)+endOfMessage, "]") {
		c.write(piece)
	}
	c.read()
	c.write(`<rpc xmlns="` + baseNS + `" message-id="x&amp;y" xmlns:e="urn:e" e:more="1"><close-session/></rpc>` + endOfMessage)
	if got := c.read(); !strings.Contains(got, `message-id="x&amp;y"`) || !strings.Contains(got, `:more="1"`) || !strings.Contains(got, "<ok/>") {
		t.Error(got)
	}
	c.ended()
}

// Messages that are none end the session with a word why; messages that ask for nonsense do not.
func TestHostileMessages(t *testing.T) {
	rpc := func(s string) string { return `<rpc xmlns="` + baseNS + `" message-id="1">` + s + `</rpc>` }
	for name, x := range map[string]struct{ msg, want string }{
		"no XML":           {"hello", "malformed-message"},
		"entity":           {`<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + rpc("<get/>"), "document type declaration is refused"},
		"unknown entity":   {rpc("<get>&evil;</get>"), "malformed-message"},
		"deep":             {rpc(strings.Repeat("<a>", 100000)), "nested too deeply"},
		"attributes":       {rpc("<get" + attrs(100) + "/>"), "too many parts"},
		"two roots":        {rpc("<get/>") + rpc("<get/>"), "two roots"},
		"cut off":          {rpc("<get/>")[:20], "malformed-message"},
		"not UTF-8":        {rpc("<get>\xff</get>"), "malformed-message"},
		"other encoding":   {`<?xml version="1.0" encoding="UTF-7"?>` + rpc("<get/>"), "malformed-message"},
		"no rpc":           {"<get/>", "malformed-message"},
		"no message-id":    {`<rpc xmlns="` + baseNS + `"><get/></rpc>`, "missing-attribute"},
		"no operation":     {rpc(""), "operation-failed"},
		"two operations":   {rpc("<get/><get/>"), "operation-failed"},
		"unknown":          {rpc("<format-disk/>"), "operation-not-supported"},
		"other namespace":  {rpc("<get xmlns='urn:x'/>"), "operation-not-supported"},
		"many comments":    {rpc("<x>" + strings.Repeat("a<!---->", 200000) + "</x>"), "operation-not-supported"},
		"control in error": {rpc("<x\u0085y/>"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c := b.login("nsroot")
			c.write(fmt.Sprintf("\n#%d\n", len(x.msg)))
			c.write(x.msg)
			c.write("\n##\n")
			if got := c.read(); !strings.Contains(got, x.want) || !strings.Contains(got, "<rpc-error>") {
				t.Errorf("%.300s, want %s", got, x.want)
			}
			if x.want != "malformed-message" {
				c.ask("<get/>") // the next one is answered
			}
		})
	}
}

func attrs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ` a%d="x"`, i)
	}
	return b.String()
}

func TestHostileChunks(t *testing.T) {
	for name, x := range map[string]struct{ bytes, want string }{
		"no chunk":       {"<rpc/>", "chunked framing is broken"},
		"size 0":         {"\n#0\n", "chunked framing is broken"},
		"leading zero":   {"\n#01\nx", "chunked framing is broken"},
		"negative":       {"\n#-1\n", "chunked framing is broken"},
		"no size":        {"\n#\n", "chunked framing is broken"},
		"huge number":    {"\n#99999999999999999999\n", "chunked framing is broken"},
		"huge":           {"\n#4294967295\n", "too-big"},
		"end first":      {"\n##\n", "chunked framing is broken"},
		"1.0 in between": {"<rpc/>" + endOfMessage, "chunked framing is broken"},
	} {
		b := newBench(t)
		c := b.login("nsroot")
		go io.WriteString(c.conn, x.bytes)
		if got := c.ended(); !strings.Contains(got, x.want) {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}

// A message that never ends is given up at the limit, and all sessions together hold no more than the budget.
func TestEndlessMessages(t *testing.T) {
	b := newBench(t)
	c := b.login("nsroot")
	go func() {
		chunk := "\n#1048576\n" + strings.Repeat("x", 1<<20)
		for range 40 {
			if _, err := io.WriteString(c.conn, chunk); err != nil {
				return
			}
		}
	}()
	if got := c.ended(); !strings.Contains(got, "too-big") {
		t.Error(got)
	}
	b.server.budget.take(maxHeld - 100<<10)
	d := b.login("nsroot")
	go io.WriteString(d.conn, "\n#1000000\n"+strings.Repeat("x", 1000000))
	if got := d.ended(); !strings.Contains(got, "resource-denied") {
		t.Error(got)
	}
	b.server.budget.give(maxHeld - 100<<10)
	b.login("nsroot").ok(editing("candidate", server("a")))
}

// Short elements take far more room than the bytes that they come in: what all sessions together work on is bounded too.
func TestManyElements(t *testing.T) {
	b := newBench(t)
	c := b.login("nsroot")
	many := "<get><filter>" + strings.Repeat("<a/>", 3*partStep) + "</filter></get>"
	if got := c.ask(many); !strings.Contains(got, "<data></data>") {
		t.Error(got)
	}
	b.server.parts.take(maxParts - 2*partStep)
	rpc := `<rpc xmlns="` + baseNS + `" message-id="1">` + many + `</rpc>`
	c.write(fmt.Sprintf("\n#%d\n%s\n##\n", len(rpc), rpc))
	if got := c.read(); !strings.Contains(got, "resource-denied") {
		t.Error(got)
	}
	c.ok(editing("candidate", server("a"))) // and what is short is worked on
	b.server.parts.give(maxParts - 2*partStep)
	c.conn.Close()
	b.running.Wait()
	if b.server.parts.left != maxParts {
		t.Errorf("%d elements are still held", maxParts-b.server.parts.left)
	}
}

// Who says nothing, or takes no answer, is sent away, and what was held for him is free again.
func TestSlowClients(t *testing.T) {
	b := newBench(t)
	c := b.login("nsroot")
	b.server.patience = 50 * time.Millisecond
	silent := b.dial("nsroot")
	silent.read()
	silent.ended()
	c.write(fmt.Sprintf("\n#%d\n", 200))
	rpc := `<rpc xmlns="` + baseNS + `" message-id="1"><get/></rpc>`
	c.write(rpc + strings.Repeat(" ", 200-len(rpc)) + "\n##\n")
	eventually(t, func() bool { // it never reads
		b.server.mu.Lock()
		defer b.server.mu.Unlock()
		return len(b.server.sessions) == 0
	})
	b.running.Wait()
	if b.server.budget.left != maxHeld {
		t.Errorf("%d bytes are still held", maxHeld-b.server.budget.left)
	}
}

// pipe is a client that has said everything already and reads nothing.
type pipe struct {
	io.Reader
	io.Writer
}

// Whatever comes after the greeting, the session ends when it does, holds nothing afterwards and locks nothing.
func FuzzSession(f *testing.F) {
	chunk := func(s string) string {
		rpc := `<rpc xmlns="` + baseNS + `" message-id="1">` + s + `</rpc>`
		return fmt.Sprintf("\n#%d\n%s\n##\n", len(rpc), rpc)
	}
	for _, s := range []string{"<get/>", "<lock><target><running/></target></lock>", editing("candidate", server("a")), "<commit><confirmed/></commit>", "<get-config><source><running/></source><filter><sluice/></filter></get-config>",
		editing("running", `<server nc:operation="delete"><name>a</name></server>`), "<close-session/>"} {
		f.Add([]byte(chunk(s)))
	}
	f.Add([]byte("\n#3\n<a>\n#4\n</a>\n##\n"))
	fuzzSession(f, func(data []byte) []byte { return data })
}

// FuzzOperation is the same for what stands in a request, twice: the second one meets what the first has done.
func FuzzOperation(f *testing.F) {
	for _, s := range []string{"<get/>", "<lock><target><running/></target></lock>", editing("candidate", server("a")+service), "<commit><confirmed/></commit>", "<get-config><source><running/></source><filter><sluice/></filter></get-config>",
		editing("running", `<server nc:operation="delete"><name>a</name></server>`), editing("running", server("a")+`<lb-parameter/>`, "<default-operation>none</default-operation>"),
		"<copy-config><source><config><sluice xmlns='urn:sluice:config'>" + server("z") + "</sluice></config></source><target><startup/></target></copy-config>",
		"<kill-session><session-id>7</session-id></kill-session>", "<validate><source><candidate/></source></validate>"} {
		f.Add([]byte(s))
	}
	fuzzSession(f, func(data []byte) []byte {
		rpc := fmt.Appendf(nil, `<rpc xmlns="%s" message-id="1">%s</rpc>`, baseNS, data)
		one := fmt.Appendf(nil, "\n#%d\n%s\n##\n", len(rpc), rpc)
		return append(one, one...)
	})
}

func fuzzSession(f *testing.F, sent func([]byte) []byte) {
	f.Fuzz(func(t *testing.T, data []byte) {
		a := newFake()
		s := New(a, slog.New(slog.DiscardHandler))
		var out bytes.Buffer
		s.Serve(context.Background(), a.peer(7, "x"), pipe{io.MultiReader(strings.NewReader(hello(base11)+endOfMessage), bytes.NewReader(sent(data))), &out})
		if s.budget.left != maxHeld || len(s.locks) > 0 || len(s.sessions) > 0 {
			t.Fatal("the session leaves something behind")
		}
		if _, waits := a.Unconfirmed(); waits && s.waiting.persist == "" {
			t.Fatal("a commit waits for a session that is gone")
		}
		if err := a.Check(a.Running()); err != nil {
			t.Fatalf("what is not valid is in force: %v", err)
		}
	})
}
