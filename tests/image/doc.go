// Package image tests the bootable image as a whole: it boots it under emulation, logs in on its console and by SSH, and sends
// traffic through it from a real client to real servers. The container form is tried beside it.
package image
