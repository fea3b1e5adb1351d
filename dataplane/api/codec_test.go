package api

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
)

// fill gives every field of v a value that is not zero, or is at the edge of what its type holds.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case addrType:
		a := netip.AddrFrom4([4]byte{10, byte(r.IntN(256)), byte(r.IntN(256)), 1})
		if r.IntN(4) == 0 {
			a = netip.AddrFrom16([16]byte{0x20, 1, 15: byte(1 + r.IntN(255))})
		}
		v.Set(reflect.ValueOf(a))
		return
	case prefixType:
		v.Set(reflect.ValueOf(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(r.IntN(256))}), r.IntN(33))))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1 + r.Uint64N(100))
		if r.IntN(3) == 0 {
			v.SetUint(math.MaxUint64 >> (64 - v.Type().Bits()))
		}
	case reflect.Int64:
		v.SetInt([]int64{1, -1, math.MaxInt64, math.MinInt64}[r.IntN(4)])
	case reflect.String:
		v.SetString(fmt.Sprintf("name-%d", r.IntN(1000)))
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Slice:
		n := 1 + r.IntN(3)
		if r.IntN(20) == 0 {
			n = 300 // beyond what is cut from a chunk
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	default:
		panic("no value of type " + v.Type().String())
	}
}

// TestEveryFieldArrives: whatever is added to the contract travels, or this test fails.
func TestEveryFieldArrives(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for typ := range codecs {
		for range 50 {
			sent, got := reflect.New(typ), reflect.New(typ)
			fill(r, sent.Elem())
			data := encode(nil, sent.Interface())
			if err := decode(data, got.Interface()); err != nil {
				t.Fatalf("%v: %v", typ, err)
			}
			if !reflect.DeepEqual(got.Interface(), sent.Interface()) {
				t.Fatalf("%v: arrived as %+v, sent was %+v", typ, got.Elem(), sent.Elem())
			}
			for cut := 0; cut < len(data); cut += 1 + len(data)/50 {
				if decode(data[:cut], reflect.New(typ).Interface()) == nil {
					t.Fatalf("%v: %d of %d bytes are taken for the whole", typ, cut, len(data))
				}
			}
			if decode(append(data, 0), reflect.New(typ).Interface()) == nil {
				t.Fatalf("%v: a byte too many is taken", typ)
			}
		}
	}
}

// TestSlicesAreApart: slices that were cut from one chunk do not grow into each other.
func TestSlicesAreApart(t *testing.T) {
	sent := request{Tables: &Tables{Config: &Config{Vservers: []Vserver{{Bindings: []Binding{{1, 1}}}, {Bindings: []Binding{{2, 2}}}}}}}
	var got request
	if err := decode(encode(nil, &sent), &got); err != nil {
		t.Fatal(err)
	}
	v := got.Tables.Config.Vservers
	_ = append(v[0].Bindings, Binding{9, 9})
	if v[1].Bindings[0] != (Binding{2, 2}) {
		t.Errorf("appending to one list has changed another: %+v", v)
	}
}

func TestFingerprintKnowsEveryField(t *testing.T) {
	type a struct{ X, Y uint32 }
	type b struct{ Y, X uint32 }
	type c struct{ X, Y uint64 }
	type d struct{ X []a }
	type e struct{ X []b }
	seen := map[uint32]reflect.Type{}
	for _, t1 := range []reflect.Type{reflect.TypeFor[a](), reflect.TypeFor[b](), reflect.TypeFor[c](), reflect.TypeFor[d](), reflect.TypeFor[e]()} {
		if other := seen[fingerprint(t1)]; other != nil {
			t.Errorf("%v and %v are taken for the same", t1, other)
		}
		seen[fingerprint(t1)] = t1
	}
}

func TestTypesThatCannotBeSent(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[map[string]int](), reflect.TypeFor[float64](), reflect.TypeFor[struct{}](), reflect.TypeFor[[4]uint16](), reflect.TypeFor[any]()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v has a codec", typ)
				}
			}()
			codecOf(typ)
		}()
	}
}

// FuzzRequest: what can be decoded at all comes back as it was, and in no more bytes.
func FuzzRequest(f *testing.F) {
	f.Add(encode(nil, &request{Call: callApply, Tables: someTables()}))
	f.Add(encode(nil, &request{Call: callStats}))
	f.Add([]byte{1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{1, 1, 1, 0, 0xff, 0xff, 0xff, 0xff, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		var q, again request
		if decode(data, &q) != nil {
			return
		}
		b := encode(nil, &q)
		if len(b) > len(data) { // numbers may have been written longer than they need
			t.Fatalf("%d bytes have become %d", len(data), len(b))
		}
		if err := decode(b, &again); err != nil || !bytes.Equal(encode(nil, &again), b) || !reflect.DeepEqual(q, again) {
			t.Fatalf("%+v comes back as %+v: %v", q, again, err)
		}
	})
}

func benchmarkTables() *request {
	c := &Config{}
	for i := range 10000 {
		c.Services = append(c.Services, Service{ID: uint32(i + 1), Name: fmt.Sprint("service", i), Proto: ProtoTCP, Port: 80,
			IP: netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), SNIPs: []uint32{1}, ServerTimeout: 360})
		if i%10 == 0 {
			c.Vservers = append(c.Vservers, Vserver{ID: uint32(i/10 + 1), Name: fmt.Sprint("vserver", i/10), Proto: ProtoTCP, Port: 80,
				IP: netip.AddrFrom4([4]byte{172, 16, byte(i / 10 >> 8), byte(i / 10)})})
		}
		v := &c.Vservers[i/10]
		v.Bindings = append(v.Bindings, Binding{uint32(i + 1), 1})
	}
	return &request{Call: callApply, Tables: &Tables{Config: c}}
}

func BenchmarkEncode10000(b *testing.B) {
	q := benchmarkTables()
	var data []byte
	for b.Loop() {
		data = encode(data[:0], q)
	}
	b.SetBytes(int64(len(data)))
}

func BenchmarkDecode10000(b *testing.B) {
	data := encode(nil, benchmarkTables())
	b.ReportAllocs()
	for b.Loop() {
		var q request
		if err := decode(data, &q); err != nil {
			b.Fatal(err)
		}
	}
}
