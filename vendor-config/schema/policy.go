package schema

// PolicyExpression is an expression with a name, for use in others.
type PolicyExpression struct {
	Name                  string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the expression"`
	Value                 string `cli:"value" pos:"2" required:"yes" max:"8191" help:"The expression"`
	Comment               string `cli:"comment" max:"255" help:"What a client is told that fails a classic expression about its security"`
	ClientSecurityMessage string `cli:"clientSecurityMessage" max:"127" help:"What a client is told that fails a classic expression about its security"`
}

// PolicyPatset is a set of texts for expressions.
type PolicyPatset struct {
	Name    string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the set"`
	Comment string `cli:"comment" max:"255" help:"Any text about it"`
}

// PolicyPatsetString is a text in a set.
type PolicyPatsetString struct {
	Name    string `cli:"name" key:"1" max:"127" ref:"policy-patset" syntax:"name" help:"Name of the set"`
	String  string `cli:"string" key:"2" max:"1023" help:"Text that is in the set"`
	Index   uint32 `cli:"index" only:"bind" min:"1" max:"4294967290" help:"Number by which expressions know the text"`
	Charset string `cli:"charset" only:"bind" enum:"ASCII,UTF_8" help:"Character set of the text"`
}

// PolicyStringmap is a map from texts to texts for expressions.
type PolicyStringmap struct {
	Name    string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the map"`
	Comment string `cli:"comment" max:"255" help:"Any text about it"`
}

// PolicyStringmapEntry is a text that stands for another.
type PolicyStringmapEntry struct {
	Name  string `cli:"name" key:"1" max:"127" ref:"policy-stringmap" syntax:"name" help:"Name of the map"`
	Key   string `cli:"key" key:"2" max:"1023" help:"Text that is looked up"`
	Value string `cli:"value" pos:"3" required:"yes" only:"bind" max:"1023" help:"Text that it stands for"`
}

// PolicyDataset is a set of values of one type for expressions.
type PolicyDataset struct {
	Name    string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the set"`
	Type    string `cli:"type" pos:"2" required:"yes" enum:"ipv4,number,ipv6,ulong,double,mac" help:"Type of the values"`
	Comment string `cli:"comment" max:"255" help:"Any text about it"`
}

// PolicyDatasetValue is a value in a set.
type PolicyDatasetValue struct {
	Name  string `cli:"name" key:"1" max:"127" ref:"policy-dataset" syntax:"name" help:"Name of the set"`
	Value string `cli:"value" key:"2" max:"127" help:"The value"`
	Index uint32 `cli:"index" only:"bind" min:"1" max:"4294967290" help:"Number by which expressions know the value"`
}

func init() {
	stored[PolicyExpression]("policy expression", "policy-expression", "add set unset rm show", "Expression with a name")
	stored[PolicyPatset]("policy patset", "policy-patset", "add rm show", "Set of texts")
	stored[PolicyPatsetString]("policy patset", "policy-patset-string", "bind unbind", "Text in a set")
	stored[PolicyStringmap]("policy stringmap", "policy-stringmap", "add set unset rm show", "Texts that stand for others")
	stored[PolicyStringmapEntry]("policy stringmap", "policy-stringmap-entry", "bind unbind", "Text that stands for another")
	stored[PolicyDataset]("policy dataset", "policy-dataset", "add rm show", "Set of values")
	stored[PolicyDatasetValue]("policy dataset", "policy-dataset-value", "bind unbind", "Value in a set")
}
