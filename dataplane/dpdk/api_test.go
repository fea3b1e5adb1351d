// Package dpdk_test keeps the binding's exported names equal to upstream's, so that upstream can take its place.
package dpdk_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.golden anew")

var packages = []string{"eal", "ethdev", "hash", "lcore", "mbuf", "mempool", "memzone", "ring", "util"}

// restLine divides what this binding must have from what upstream has besides.
const restLine = "// ---- rest ----"

// TestAPIGolden shows every change of the exported API in a diff.
func TestAPIGolden(t *testing.T) {
	var got strings.Builder
	for _, p := range packages {
		for _, line := range ours(t, p) {
			got.WriteString(p + ": " + line + "\n")
		}
	}
	const golden = "testdata/api.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, lines(string(want)), lines(got.String()), "is gone", "is new (go test -run TestAPIGolden -update writes the list)")
}

// TestAPIIsUpstreams: everything that upstream's list asks for is there, and nothing is there that upstream has not.
func TestAPIIsUpstreams(t *testing.T) {
	for _, p := range packages {
		t.Run(p, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join("testdata", "upstream", p+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			head, rest, found := strings.Cut(string(src), restLine)
			if !found {
				t.Fatalf("no line %q", restLine)
			}
			must := exported(t, p, head)
			may := append(exported(t, p, "package "+p+"\n"+rest), must...)
			if len(must) == 0 {
				t.Fatal("upstream's list is empty")
			}
			have := ours(t, p)
			for _, line := range must {
				if !slices.Contains(have, line) {
					t.Errorf("missing or different: %s", line)
				}
			}
			for _, line := range have {
				if !slices.Contains(may, line) {
					t.Errorf("upstream has no: %s", line)
				}
			}
		})
	}
}

// TestListNotices: the comparison is worth something only if it sees a changed signature.
func TestListNotices(t *testing.T) {
	const src = `package p
type T struct { A int; b int }
type t struct{}
type U struct{ b int }
func (x *T) M(a uint16) error { return nil }
func (x *t) M() {}
func f() {}
const ( A uint = iota; B )
var V, w = 1, 2
`
	want := []string{"const A uint", "const B", "func (x *T) M(a uint16) error", "type T struct { A int }", "type U struct { }", "var V"}
	if got := exported(t, "p", src); !slices.Equal(got, want) {
		t.Fatalf("got %q\nwant %q", got, want)
	}
}

func diff(t *testing.T, want, got []string, gone, fresh string) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s: %s", gone, line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("%s: %s", fresh, line)
		}
	}
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }

// ours lists what a package of this binding exports.
func ours(t *testing.T, pkg string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, exported(t, pkg, string(src))...)
	}
	slices.Sort(list)
	return list
}

// exported lists the exported declarations of one file's source, one line each, sorted.
func exported(t *testing.T, pkg, src string) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, pkg+".go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	add := func(node any) {
		var b bytes.Buffer
		if err := printer.Fprint(&b, fset, node); err != nil {
			t.Fatal(err)
		}
		list = append(list, oneLine(b.String()))
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if isExported(d) {
				add(&ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type})
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				for _, decl := range specs(d.Tok, s) {
					add(decl)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

func oneLine(s string) string {
	var parts []string
	for line := range strings.SplitSeq(s, "\n") {
		line, _, _ = strings.Cut(line, "//")
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			parts = append(parts, line)
		}
	}
	out := strings.Join(parts, "; ")
	return strings.NewReplacer("{; ", "{ ", "; }", " }", "struct{ }", "struct { }").Replace(out)
}

func isExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return d.Name.IsExported()
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported() && d.Name.IsExported()
}

// specs are the exported parts of a const, type or var declaration: constants and variables without their values,
// structures without their unexported fields.
func specs(tok token.Token, s ast.Spec) (out []ast.Decl) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			typ := &ast.TypeSpec{Name: s.Name, Assign: s.Assign, Type: publicType(s.Type)}
			out = append(out, &ast.GenDecl{Tok: tok, Specs: []ast.Spec{typ}})
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if !name.IsExported() {
				continue
			}
			value := &ast.ValueSpec{Names: []*ast.Ident{name}, Type: s.Type}
			if tok == token.VAR {
				value.Type = nil // upstream's list gives it for some only
			}
			out = append(out, &ast.GenDecl{Tok: tok, Specs: []ast.Spec{value}})
		}
	}
	return out
}

func publicType(e ast.Expr) ast.Expr {
	st, ok := e.(*ast.StructType)
	if !ok {
		return e
	}
	fields := &ast.FieldList{}
	for _, f := range st.Fields.List {
		if f.Names == nil { // embedded
			fields.List = append(fields.List, &ast.Field{Type: f.Type})
			continue
		}
		for _, name := range f.Names {
			if name.IsExported() {
				fields.List = append(fields.List, &ast.Field{Names: []*ast.Ident{name}, Type: f.Type})
			}
		}
	}
	return &ast.StructType{Fields: fields}
}
