// Package monitors holds the tests of monitors against real servers of every protocol that they speak.
package monitors
