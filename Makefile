# Sluice: the names of these targets are a contract; what each does stands in the README.
SHELL := /bin/bash
export GOFLAGS := -trimpath -buildvcs=false
export GOAMD64 ?= v3

PACKAGES := build-essential pkg-config libdpdk-dev dpdk-dev iproute2 ethtool nftables nginx-light openssh-client netcat-openbsd sshpass \
	expect tmux curl procps iputils-ping traceroute chrony faketime tcpdump util-linux \
	libyang2-tools python3-ncclient python3-netmiko yangcli knot vsftpd opensmtpd dovecot-pop3d slapd freeradius mariadb-server-core snmpd \
	prometheus rsyslog rsyslog-gnutls keepalived dnsmasq-base \
	mmdebstrap debian-archive-keyring squashfs-tools mtools dosfstools e2fsprogs fdisk cpio zstd kmod busybox-static \
	grub-common grub-pc-bin grub-efi-amd64-bin qemu-utils xorriso \
	buildah qemu-system-x86 ovmf

COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
COMMITTED := $(shell git log -1 --format=%cI 2>/dev/null)
VERSION := 0.1-$(shell git rev-parse --short HEAD 2>/dev/null)

.PHONY: all deps build demo test check lab bench fuzz soak image qemu test-image container docs clean
all: build

# Installs what is missing and nothing else, so that the second call is quick and needs no network. The servers that tests
# use must not be started by being installed: a policy-rc.d says so to their packages while there is none.
POLICY := /usr/sbin/policy-rc.d
deps:
	@missing=""; for p in $(PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "installing:$$missing"; \
	  own=""; [ -e $(POLICY) ] || { own=1; printf '#!/bin/sh\nexit 101\n' >$(POLICY); chmod 755 $(POLICY); }; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; rc=$$?; \
	  [ -z "$$own" ] || rm -f $(POLICY); exit $$rc; fi
	@go mod download

build: deps
	@mkdir -p bin
	go build -ldflags "-X main.version=$(VERSION)" -o bin/sluice-dataplane ./dataplane
	go build -ldflags "-X main.commit=$(COMMIT) -X main.committed=$(COMMITTED)" -o bin/sluice-mgmt ./mgmt
	go build -o bin/sluice ./cli
	go build -o bin/sluice-lab ./tests/lab

demo: build
	@bin/sluice-lab demo

# Everything that CI runs. Fuzz targets run on their corpora here, so that chance fails nobody's change; FULL=1 adds
# fuzzing and the long rows.
test: build check
	@if [ -n "$(FULL)" ]; then go test -race ./mgmt/engine ./vendor-config/schema && \
	  $(MAKE) --no-print-directory fuzz FUZZTIME=$(or $(FUZZTIME),10s); fi
	@set -o pipefail; go test -json -count=1 -p 1 -timeout 30m ./tests/... | bin/sluice-tally

check: deps
	@mkdir -p bin; go build -o bin/sluice-tally ./tests/tally
	@out=$$(gofmt -l $$(git ls-files -c -o --exclude-standard '*.go')); if [ -n "$$out" ]; then echo "not gofmt-ed: $$out"; exit 1; fi
	go vet ./...
	cd dataplane/dpdk && go vet ./...
	go tool staticcheck ./...
	@set -o pipefail; (go test -json -timeout 15m $$(go list ./... | grep -v '^sluice/tests/') ./tests/house && \
		cd dataplane/dpdk && go test -json -timeout 15m ./...) | bin/sluice-tally

# T is the topology (basic).
lab: build
	@bin/sluice-lab up $(or $(T),basic)

# B is the bench (l4); all of those that are built when left out.
bench: build
	@case "$(B)" in "") go run ./tests/bench l4 && go run ./tests/bench mgmt && go run ./tests/bench vrrp ;; l4|mgmt|vrrp) go run ./tests/bench $(B) ;; \
	  http|mux) echo "make bench B=$(B): not built yet"; exit 2 ;; *) echo "make bench: no bench $(B)"; exit 2 ;; esac

# Every fuzz target for FUZZTIME.
FUZZTIME ?= 30s
fuzz: deps
	@set -e; for d in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -h '^func Fuzz' $$d/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do \
	    echo "fuzz $$d $$f"; go test $$d -run='^$$' -fuzz="^$$f\$$" -fuzztime=$(FUZZTIME) >/tmp/sluice-fuzz.$$$$ 2>&1 || { cat /tmp/sluice-fuzz.$$$$; rm -f /tmp/sluice-fuzz.$$$$; exit 1; }; rm -f /tmp/sluice-fuzz.$$$$; done; done

# Ten minutes of mixed traffic, flapping services and a commit each second; SOAK is how long.
SOAK ?= 10m
soak: build
	SOAK=$(SOAK) go test -count=1 -v -timeout 2h ./tests/soak

# The command reference, the YANG modules and their outline, written out from the schema; tests keep them true.
docs: deps
	go test ./vendor-config/yang -count=1 -run 'TestModulesAreThoseOfTheSchema' -update
	go test ./vendor-config/yang -count=1 -run 'TestYanglintTree' -update
	go test ./cli/grammar -count=1 -run 'TestCommandReference' -update

# The appliance's image, into image/out. FLAVOUR is vm or metal; KEY the file of the key that bundles are signed with
# (openssl genpkey -algorithm ed25519), IMAGE_CACHE keeps the packages' tarball; IMAGE_FLAGS are
# what `go run ./image -h` lists.
FLAVOUR ?= vm
IMAGE_CACHE ?= image/out/cache
image: deps
	go run ./image -flavour $(FLAVOUR) -cache $(IMAGE_CACHE) $(if $(KEY),-key $(KEY)) $(IMAGE_FLAGS)

# The container form, localhost/sluice:dev, by buildah: a base of the same packages as the image, then the Dockerfile. No name of
# where packages come from stays in it.
CONTAINER := image/out/container
BASE := localhost/sluice-base:bookworm
container: export BUILDAH_ISOLATION := chroot
container: deps
	go run ./image -flavour container -cache $(IMAGE_CACHE)
	@mkdir -p $(CONTAINER)/bin
	GOAMD64=v2 go build -ldflags "-s -w -X main.version=$(VERSION)" -o $(CONTAINER)/bin/sluice-dataplane ./dataplane
	CGO_ENABLED=0 GOAMD64=v2 go build -ldflags "-s -w -X main.commit=$(COMMIT) -X main.committed=$(COMMITTED)" -o $(CONTAINER)/bin/sluice-mgmt ./mgmt
	CGO_ENABLED=0 GOAMD64=v2 go build -ldflags "-s -w" -o $(CONTAINER)/bin/sluice-container ./image/container
	@set -e; c=$$(buildah from scratch); trap "buildah rm $$c >/dev/null" EXIT; \
	  buildah add -q $$c image/out/sluice-base.tar / >/dev/null; \
	  buildah run $$c -- rm -rf /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d/99mmdebstrap; \
	  buildah commit -q $$c $(BASE) >/dev/null
	buildah bud -q --network host --pull-never --build-arg BASE=$(BASE) -t localhost/sluice:dev .
	@echo "localhost/sluice:dev is built; how to start it stands in image/README.md"

# Boots the image of image/out here, with its console on this terminal and a client and web servers around it. UEFI=1 takes that
# firmware; BARE=1 gives no user-data, so that the console asks.
qemu: build
	@test -e image/out/sluice-vm.qcow2 || $(MAKE) --no-print-directory image
	go run ./tests/image

# The image and the container form as a whole, under emulation, which makes everything slow; FULL=1 runs the long rows too. The image is
# one of its own, with small partitions and a key for its bundles that nobody else has.
TESTED := $(CURDIR)/image/out/test
test-image: build container
	@mkdir -p $(TESTED); rm -f $(TESTED)/key; umask 077; openssl genpkey -algorithm ed25519 -out $(TESTED)/key
	go run ./image -out $(TESTED) -cache $(IMAGE_CACHE) -key $(TESTED)/key -formats qcow2 -level 1 -esp 128 -slot 256 -config 32 -data 512 \
	  -arguments "systemd.journald.forward_to_console=1 sluice.health=600 no_timer_check" $(IMAGE_FLAGS)
	@go build -o bin/sluice-tally ./tests/tally
	@set -o pipefail; SLUICE_IMAGE=$(TESTED) SLUICE_KEY=$(TESTED)/key \
	  go test -json -count=1 -p 1 -timeout $(if $(FULL),180m,40m) ./tests/image/... | tee $(TESTED)/tests.json | bin/sluice-tally
	@grep -ho 'from the start of QEMU[^"\\]*' $(TESTED)/tests.json || true

clean:
	rm -rf bin image/out
