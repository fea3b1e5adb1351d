// Package ethdev configures and reads Ethernet ports: queues, link, MTU, promiscuity, RSS, statistics, and bursts of
// packets in and out. Names and signatures are those of github.com/yerden/go-dpdk/ethdev. It makes no ports: they come
// from EAL's arguments.
package ethdev
