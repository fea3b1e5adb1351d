package main

import "errors"

// start readies the machine for its programs at each start.
func start([]string) error { return errors.New("not built yet") }
