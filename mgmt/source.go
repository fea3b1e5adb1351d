package main

import (
	"fmt"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// sourceMost is the greatest file of commands that an operator's session executes, in bytes.
const sourceMost = 1 << 20

// Commands reads the file that source or batch names, in the configuration folder. That the user may have it executed does not
// allow its lines: the shell asks for each. A line that is no command is named by its error, so that only the beginning of another
// kind of file could be read by this.
func (o *operator) Commands(user string, op *grammar.Op) ([]byte, error) {
	name := op.Key[0]
	if err := o.may(op); err != nil {
		return nil, err
	}
	text, err := o.commandFile(name, "executed")
	if err == nil && len(text) > sourceMost {
		err = schema.Refuse(schema.TooLong, name, fmt.Sprint(sourceMost)).Because("import ns.conf takes longer files")
	}
	return text, err
}
