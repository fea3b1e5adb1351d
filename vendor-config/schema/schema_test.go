package schema

import "testing"

func TestObjectsLoad(t *testing.T) {
	for _, o := range Objects() {
		if o.Rows {
			o.Fresh()
		}
	}
}
