package schema

import (
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var addrType = reflect.TypeFor[netip.Addr]()

// AnyAddress is what `*` means where an address may be any. It is not 0.0.0.0, which means that there is none.
var AnyAddress = netip.IPv6Unspecified()

// Text is the field's value of the struct v as it is written to a file; an unset address is "".
func (f *Field) Text(v reflect.Value) string {
	fv := v.Field(f.Index)
	switch {
	case f.Type == addrType:
		switch a := fv.Interface().(netip.Addr); {
		case !a.IsValid():
			return ""
		case a == AnyAddress && f.Any != "":
			return "*"
		default:
			return a.String()
		}
	case f.Type.Kind() == reflect.String:
		return fv.String()
	}
	return strconv.FormatUint(fv.Uint(), 10)
}

// Set parses s into the field of the struct v. The error is a sentence for the operator with the argument in brackets.
func (f *Field) Set(v reflect.Value, s string) error {
	fv := v.Field(f.Index)
	if len(f.Later) == 1 && f.Later[0] == "*" {
		return Refuse(NotSupported, f.CLI)
	}
	any := s == "*" && f.Any != ""
	if any {
		s = f.Any
	}
	switch {
	case len(f.Enum) > 0:
		return f.setEnum(fv, s)
	case f.Type == addrType:
		if s == "*" {
			return Refuse(NotSupported, f.CLI, s)
		}
		if any {
			fv.Set(reflect.ValueOf(AnyAddress))
			return nil
		}
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is4() {
			return Refuse(BadAddress, f.CLI, s)
		}
		fv.Set(reflect.ValueOf(a))
	case f.Type.Kind() == reflect.String:
		return f.setText(fv, s)
	default:
		n, err := strconv.ParseUint(s, 10, 64)
		lo, hi := f.Bounds()
		if err != nil && strings.Trim(s, "0123456789") != "" || s == "" {
			return Refuse(BadNumber, f.CLI, s)
		}
		if err != nil || n < lo || n > hi {
			return Refuse(OutOfRange, f.CLI, strconv.FormatUint(lo, 10), strconv.FormatUint(hi, 10)).Because(s + " was given")
		}
		fv.SetUint(n)
	}
	return nil
}

func (f *Field) setText(fv reflect.Value, s string) error {
	if canonical := canonicals[f.Syntax]; canonical != nil {
		s = canonical(s)
	}
	if f.Secret && Masked(s) {
		return Refuse(BadValue, f.CLI, s).Because("that is how show hides a secret; give the secret itself")
	}
	if f.HasMax && uint64(len(s)) > f.Max {
		return Refuse(TooLong, f.CLI, strconv.FormatUint(f.Max, 10))
	}
	if fault := textFault(s); fault != "" {
		if f.Secret {
			s = Hidden
		}
		return Refuse(BadValue, f.CLI, s).Because(fault)
	}
	if check := syntaxes[f.Syntax]; check != nil {
		if fault := check(s); fault != "" {
			if f.Secret {
				s = Hidden
			}
			return Refuse(BadValue, f.CLI, s).Because(fault)
		}
	}
	fv.SetString(strings.Clone(s)) // or a name would keep the whole file in memory that it stands in
	return nil
}

// Numeric tells whether the field's values are numbers.
func (f *Field) Numeric() bool {
	return f.Type.Kind() >= reflect.Uint8 && f.Type.Kind() <= reflect.Uint64
}

// Bounds are the least and greatest value of a numeric field.
func (f *Field) Bounds() (lo, hi uint64) {
	hi = 1<<f.Type.Bits() - 1
	if f.HasMax {
		hi = f.Max
	}
	return f.Min, hi
}

func (f *Field) setEnum(fv reflect.Value, s string) error {
	for from, to := range f.Alias {
		if strings.EqualFold(from, s) {
			s = to
		}
	}
	for _, e := range f.Enum {
		if strings.EqualFold(e, s) {
			fv.SetString(e)
			return nil
		}
	}
	if slices.ContainsFunc(f.Later, func(l string) bool { return strings.EqualFold(l, s) }) {
		return Refuse(NotSupported, f.CLI, s)
	}
	return Refuse(BadValue, f.CLI, s).Because("it is one of " + strings.Join(f.Enum, " "))
}

// Fresh returns a pointer to a new row of o with every default set, except defaults that depend on another field.
func (o *Object) Fresh() any {
	p := reflect.New(o.Type)
	for _, f := range o.Fields {
		if f.HasDefault {
			if err := f.Set(p.Elem(), f.Default); err != nil {
				panic("schema: default of " + o.Name() + " " + f.CLI + ": " + err.Error())
			}
		}
	}
	return p.Interface()
}

// Copy returns a pointer to a row that is the caller's own and like another.
func (o *Object) Copy(row any) any {
	p := reflect.New(o.Type)
	p.Elem().Set(reflect.ValueOf(row).Elem())
	return p.Interface()
}

// Reset gives the field of the row v its default, which may depend on another field, or its zero value.
func (f *Field) Reset(o *Object, v reflect.Value) {
	d := f.DefaultIn(o, v)
	if d == "" || f.Set(v, d) != nil {
		v.Field(f.Index).SetZero()
	}
}

// DefaultIn is the field's default in the row v, "" when there is none.
func (f *Field) DefaultIn(o *Object, v reflect.Value) string {
	if f.DefaultBy != "" {
		return f.defaults[o.Field(f.DefaultBy).Text(v)]
	}
	return f.Default
}
