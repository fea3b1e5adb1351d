module github.com/yerden/go-dpdk

go 1.26
