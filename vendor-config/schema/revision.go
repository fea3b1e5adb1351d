package schema

// Revision is the version of the model, as it stands in the heads of saved configurations: it grows when a leaf, an object or a value is
// renamed, removed or given another meaning, and mgmt/render then has a step that brings older files there.
const Revision = 1
