package render

import (
	"testing"

	"sluice/vendor-config/schema"
)

// Whoever adds a step has made a new version of the schema, by which bundles of the image say what their release reads.
func TestTheNewestVersionIsTheSchemas(t *testing.T) {
	if newest() != schema.Revision {
		t.Errorf("files are brought to version %d, the schema has %d: raise schema.Revision", newest(), schema.Revision)
	}
}
