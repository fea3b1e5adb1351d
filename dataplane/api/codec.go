package api

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"net/netip"
	"reflect"
	"unsafe"
)

// A codec writes and reads the values of one type. It is made from the type once, so that no field can be forgotten, and
// then works on addresses: ten thousand services are a million bytes, which take about a millisecond in each direction
// and few allocations (gob took ten and one for each slice).
//
// Unsigned numbers are written as uvarints, signed ones as zigzag varints, single bytes, booleans and byte arrays as they
// are, strings and slices behind their length, addresses behind their length in bytes (0 is no address), prefixes as
// address and length, pointers behind a byte that tells whether there is something, structs field by field.
type codec struct {
	put   func(b []byte, p unsafe.Pointer) []byte
	get   func(d *decoder, p unsafe.Pointer)
	least int // bytes that a value takes at least; never 0
}

// decoder reads one message. Strings are parts of the message's text, slices parts of larger ones of their type, so that
// decoding allocates by message and not by object.
type decoder struct {
	text  string
	at    int
	err   error
	slabs map[*slab]*chunk
}

// chunk is what is left of a large slice that small ones are cut from.
type chunk struct {
	base unsafe.Pointer
	left int
}

// chunkLen is how many elements are allocated at once.
const chunkLen = 4096

var errCut = errors.New("a message is cut off")

func (d *decoder) fail(format string, a ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, a...)
	}
	d.at = len(d.text) // nothing more is read
}

func (d *decoder) byte() byte {
	if d.at >= len(d.text) {
		d.fail("%w", errCut)
		return 0
	}
	d.at++
	return d.text[d.at-1]
}

// uint reads a number that is not above most.
func (d *decoder) uint(most uint64) uint64 {
	var n uint64
	for shift := 0; ; shift += 7 {
		c := d.byte()
		if shift == 63 && c > 1 {
			d.fail("a number is too long")
			return 0
		}
		if n |= uint64(c&0x7f) << shift; c < 0x80 {
			break
		}
	}
	if n > most {
		d.fail("a number is above %d", most)
		return 0
	}
	return n
}

// length reads how many elements follow, each of at least so many bytes.
func (d *decoder) length(least int) int {
	n := d.uint(math.MaxInt32)
	if n > uint64((len(d.text)-d.at)/least) {
		d.fail("%w", errCut)
		return 0
	}
	return int(n)
}

func (d *decoder) bytes(n int) string {
	if n > len(d.text)-d.at {
		d.fail("%w", errCut)
		return ""
	}
	d.at += n
	return d.text[d.at-n : d.at]
}

// encode appends what v points to.
func encode(b []byte, v any) []byte {
	p := reflect.ValueOf(v)
	return codecs[p.Type().Elem()].put(b, p.UnsafePointer())
}

// decode reads the whole of a message into what v points to, which must be zero.
func decode(data []byte, v any) error {
	p := reflect.ValueOf(v)
	d := &decoder{text: string(data), slabs: map[*slab]*chunk{}}
	codecs[p.Type().Elem()].get(d, p.UnsafePointer())
	if d.err == nil && d.at != len(d.text) {
		d.fail("a message is longer than what it says")
	}
	return d.err
}

var (
	addrType   = reflect.TypeFor[netip.Addr]()
	prefixType = reflect.TypeFor[netip.Prefix]()
)

// codecOf makes the codec of a type. It panics at one that it does not know: a fault of the programmer, found at start.
func codecOf(t reflect.Type) *codec {
	switch t {
	case addrType:
		return &codec{func(b []byte, p unsafe.Pointer) []byte { return putAddr(b, *(*netip.Addr)(p)) },
			func(d *decoder, p unsafe.Pointer) { *(*netip.Addr)(p) = d.addr() }, 1}
	case prefixType:
		return &codec{putPrefix, func(d *decoder, p unsafe.Pointer) { *(*netip.Prefix)(p) = d.prefix() }, 2}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &codec{func(b []byte, p unsafe.Pointer) []byte { return append(b, *(*byte)(p)) },
			func(d *decoder, p unsafe.Pointer) {
				n := d.byte()
				if n > 1 {
					d.fail("%d is neither true nor false", n)
				}
				*(*bool)(p) = n == 1
			}, 1}
	case reflect.Uint8:
		return &codec{func(b []byte, p unsafe.Pointer) []byte { return append(b, *(*byte)(p)) },
			func(d *decoder, p unsafe.Pointer) { *(*byte)(p) = d.byte() }, 1}
	case reflect.Uint16:
		return &codec{func(b []byte, p unsafe.Pointer) []byte { return binary.AppendUvarint(b, uint64(*(*uint16)(p))) },
			func(d *decoder, p unsafe.Pointer) { *(*uint16)(p) = uint16(d.uint(math.MaxUint16)) }, 1}
	case reflect.Uint32:
		return &codec{func(b []byte, p unsafe.Pointer) []byte { return binary.AppendUvarint(b, uint64(*(*uint32)(p))) },
			func(d *decoder, p unsafe.Pointer) { *(*uint32)(p) = uint32(d.uint(math.MaxUint32)) }, 1}
	case reflect.Uint64:
		return &codec{func(b []byte, p unsafe.Pointer) []byte { return binary.AppendUvarint(b, *(*uint64)(p)) },
			func(d *decoder, p unsafe.Pointer) { *(*uint64)(p) = d.uint(math.MaxUint64) }, 1}
	case reflect.Int64:
		return &codec{func(b []byte, p unsafe.Pointer) []byte { return binary.AppendVarint(b, *(*int64)(p)) },
			func(d *decoder, p unsafe.Pointer) {
				n := d.uint(math.MaxUint64)
				*(*int64)(p) = int64(n>>1) ^ -int64(n&1)
			}, 1}
	case reflect.String:
		return &codec{func(b []byte, p unsafe.Pointer) []byte {
			s := *(*string)(p)
			return append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}, func(d *decoder, p unsafe.Pointer) { *(*string)(p) = d.bytes(d.length(1)) }, 1}
	case reflect.Array:
		return arrayCodec(t)
	case reflect.Slice:
		return sliceCodec(t)
	case reflect.Pointer:
		return pointerCodec(t)
	case reflect.Struct:
		return structCodec(t)
	}
	panic("api: no value of type " + t.String() + " can be sent")
}

func arrayCodec(t reflect.Type) *codec {
	n := t.Len()
	if t.Elem().Kind() != reflect.Uint8 || n == 0 {
		panic("api: of arrays only those of bytes can be sent")
	}
	return &codec{func(b []byte, p unsafe.Pointer) []byte { return append(b, unsafe.Slice((*byte)(p), n)...) },
		func(d *decoder, p unsafe.Pointer) { copy(unsafe.Slice((*byte)(p), n), d.bytes(n)) }, n}
}

func pointerCodec(t reflect.Type) *codec {
	e := codecOf(t.Elem())
	return &codec{func(b []byte, p unsafe.Pointer) []byte {
		if q := *(*unsafe.Pointer)(p); q != nil {
			return e.put(append(b, 1), q)
		}
		return append(b, 0)
	}, func(d *decoder, p unsafe.Pointer) {
		switch n := d.byte(); n {
		case 0:
		case 1:
			q := reflect.New(t.Elem()).UnsafePointer()
			e.get(d, q)
			*(*unsafe.Pointer)(p) = q
		default:
			d.fail("%d tells not whether something follows", n)
		}
	}, 1}
}

func structCodec(t reflect.Type) *codec {
	type field struct {
		*codec
		offset uintptr
	}
	var fields []field
	least := 0
	for i := range t.NumField() {
		f := t.Field(i)
		c := codecOf(f.Type)
		fields = append(fields, field{c, f.Offset})
		least += c.least
	}
	if least == 0 {
		panic("api: " + t.String() + " says nothing")
	}
	return &codec{func(b []byte, p unsafe.Pointer) []byte {
		for i := range fields {
			b = fields[i].put(b, unsafe.Add(p, fields[i].offset))
		}
		return b
	}, func(d *decoder, p unsafe.Pointer) {
		for i := range fields {
			fields[i].get(d, unsafe.Add(p, fields[i].offset))
		}
	}, least}
}

// slab is a type of which elements are allocated many at once.
type slab struct {
	slice reflect.Type
	size  uintptr
}

// header is what Go makes of a slice.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

func sliceCodec(t reflect.Type) *codec {
	e := codecOf(t.Elem())
	s := &slab{t, t.Elem().Size()}
	return &codec{func(b []byte, p unsafe.Pointer) []byte {
		h := (*header)(p)
		b = binary.AppendUvarint(b, uint64(h.len))
		for i := range h.len {
			b = e.put(b, unsafe.Add(h.data, uintptr(i)*s.size))
		}
		return b
	}, func(d *decoder, p unsafe.Pointer) {
		n := d.length(e.least)
		if n == 0 {
			return // no elements are nil, as in a table that was never sent
		}
		data := d.take(s, n)
		for i := range n {
			e.get(d, unsafe.Add(data, uintptr(i)*s.size))
		}
		*(*header)(p) = header{data, n, n}
	}, 1}
}

// take allocates n elements: a few of them from a chunk.
func (d *decoder) take(s *slab, n int) unsafe.Pointer {
	if n > chunkLen/16 {
		return reflect.MakeSlice(s.slice, n, n).UnsafePointer()
	}
	c := d.slabs[s]
	if c == nil {
		c = &chunk{}
		d.slabs[s] = c
	}
	if c.left < n {
		// No more than the rest of the message can fill, so that a short one allocates little.
		c.left = max(n, min(chunkLen, len(d.text)-d.at))
		c.base = reflect.MakeSlice(s.slice, c.left, c.left).UnsafePointer()
	}
	data := c.base
	if c.left -= n; c.left > 0 {
		c.base = unsafe.Add(data, uintptr(n)*s.size)
	}
	return data
}

func putAddr(b []byte, a netip.Addr) []byte {
	switch {
	case a.Is4():
		four := a.As4()
		return append(append(b, 4), four[:]...)
	case a.IsValid():
		sixteen := a.As16() // the zone is left out: tables have none
		return append(append(b, 16), sixteen[:]...)
	}
	return append(b, 0)
}

func (d *decoder) addr() netip.Addr {
	switch n := d.byte(); n {
	case 0:
	case 4:
		if s := d.bytes(4); s != "" {
			return netip.AddrFrom4([4]byte([]byte(s)))
		}
	case 16:
		if s := d.bytes(16); s != "" {
			return netip.AddrFrom16([16]byte([]byte(s)))
		}
	default:
		d.fail("an address of %d bytes", n)
	}
	return netip.Addr{}
}

// noPrefix stands for the length of a prefix that is none.
const noPrefix = 255

func putPrefix(b []byte, p unsafe.Pointer) []byte {
	v := *(*netip.Prefix)(p)
	if !v.IsValid() {
		return append(putAddr(b, netip.Addr{}), noPrefix)
	}
	return append(putAddr(b, v.Addr()), byte(v.Bits()))
}

func (d *decoder) prefix() netip.Prefix {
	a, bits := d.addr(), int(d.byte())
	if !a.IsValid() {
		if bits != noPrefix && d.err == nil {
			d.fail("a prefix without an address has a length")
		}
		return netip.Prefix{}
	}
	p := netip.PrefixFrom(a, bits)
	if !p.IsValid() {
		d.fail("a prefix of %v has the length %d", a, bits)
	}
	return p
}

// fingerprint sums up what values of the types look like, down to the names of fields: programs with the same one
// understand each other.
func fingerprint(types ...reflect.Type) uint32 {
	text := ""
	var describe func(t reflect.Type)
	describe = func(t reflect.Type) {
		switch {
		case t == addrType || t == prefixType:
			text += t.String()
		case t.Kind() == reflect.Struct:
			text += "{"
			for i := range t.NumField() {
				text += t.Field(i).Name + " "
				describe(t.Field(i).Type)
				text += ";"
			}
			text += "}"
		case t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer || t.Kind() == reflect.Array:
			text += fmt.Sprintf("%v %d ", t.Kind(), t.Size())
			describe(t.Elem())
		default:
			text += t.Kind().String()
		}
	}
	for _, t := range types {
		describe(t)
	}
	return crc32.ChecksumIEEE([]byte(text))
}
