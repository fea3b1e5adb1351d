package schema

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var addrType = reflect.TypeFor[netip.Addr]()

// Text is the field's value of the struct v as it is written to a file; an unset address is "".
func (f *Field) Text(v reflect.Value) string {
	fv := v.Field(f.Index)
	switch {
	case f.Type == addrType:
		if a := fv.Interface().(netip.Addr); a.IsValid() {
			return a.String()
		}
		return ""
	case f.Type.Kind() == reflect.String:
		return fv.String()
	}
	return strconv.FormatUint(fv.Uint(), 10)
}

// Set parses s into the field of the struct v. The error is a sentence for the operator with the argument in brackets.
func (f *Field) Set(v reflect.Value, s string) error {
	fv := v.Field(f.Index)
	if len(f.Later) == 1 && f.Later[0] == "*" {
		return fmt.Errorf("Feature not supported in this release [%s]", f.CLI)
	}
	if s == "*" && f.Any != "" {
		s = f.Any
	}
	switch {
	case len(f.Enum) > 0:
		return f.setEnum(fv, s)
	case f.Type == addrType:
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is4() {
			return fmt.Errorf("Invalid IP address [%s, %s]", f.CLI, s)
		}
		fv.Set(reflect.ValueOf(a))
	case f.Type.Kind() == reflect.String:
		if f.HasMax && uint64(len(s)) > f.Max {
			return fmt.Errorf("String length exceeds maximum [%s, %d]", f.CLI, f.Max)
		}
		fv.SetString(s)
	default:
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return fmt.Errorf("Expected a positive integer argument [%s, %s]", f.CLI, s)
		}
		lo, hi := f.Bounds()
		if n < lo || n > hi {
			return fmt.Errorf("Argument value out of range [%s, %d, %d]", f.CLI, lo, hi)
		}
		fv.SetUint(n)
	}
	return nil
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
	for _, e := range f.Enum {
		if strings.EqualFold(e, s) {
			fv.SetString(e)
			return nil
		}
	}
	if slices.ContainsFunc(f.Later, func(l string) bool { return strings.EqualFold(l, s) }) {
		return fmt.Errorf("Feature not supported in this release [%s, %s]", f.CLI, s)
	}
	return fmt.Errorf("Invalid value [%s, %s]", f.CLI, s)
}

// Fresh returns a pointer to a new row of o with every default set.
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
