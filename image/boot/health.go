package main

import "errors"

// health says whether the machine is well enough for a slot that is on trial to be kept.
func health([]string) error { return errors.New("not built yet") }
