module sluice

go 1.26.0

require (
	github.com/coreos/go-systemd/v22 v22.7.0 // tells systemd that a program is ready and lives
	github.com/creack/pty v1.1.24 // terminals, of the system's shell and in tests
	github.com/dlclark/regexp2 v1.12.0 // command policies: with lookahead, which regexp lacks and policies of the reference product use
	github.com/gliderlabs/ssh v0.3.8 // the SSH door
	github.com/go-asn1-ber/asn1-ber v1.5.8 // bounds the answers that the next one reads
	github.com/go-ldap/ldap/v3 v3.4.15 // directories that know accounts
	github.com/google/nftables v0.3.0 // silences the kernel on ports
	github.com/gopacket/gopacket v1.7.7 // pcapng files of captures: the fork of google/gopacket that is kept up
	github.com/insomniacslk/dhcp v0.0.0-20260901064844-234b97448fae // the management port's address; it has no releases
	github.com/miekg/dns v1.1.73 // addresses of servers by name, with their TTL, which net.Resolver does not tell
	github.com/pkg/sftp v1.13.12 // SFTP, which scp speaks too
	github.com/prometheus/client_golang v1.25.0 // metrics
	github.com/spdx/tools-golang v0.5.7 // says what the image is made of, in SPDX
	github.com/spf13/viper v1.21.0 // settings of the programs
	github.com/vishvananda/netlink v1.3.1 // addresses, routes, neighbors
	github.com/vishvananda/netns v0.0.5 // namespaces in tests
	github.com/yerden/go-dpdk v0.1.0 // DPDK; replaced by dataplane/dpdk
	go.yaml.in/yaml/v3 v3.0.5 // configuration as YAML
	golang.org/x/crypto v0.59.0 // SSH protocol, argon2id
	golang.org/x/net v0.62.0 // DNS messages of monitors
	golang.org/x/sys v0.50.0 // system calls
	golang.org/x/term v0.48.0 // line editor of the shell
)

require (
	github.com/Azure/go-ntlmssp v0.1.1 // indirect
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/anchore/go-struct-converter v0.1.0 // indirect
	github.com/anmitsu/go-shlex v0.0.0-20200514113438-38f4b401e2be // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/go-viper/mapstructure/v2 v2.4.0 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/josharian/native v1.1.0 // indirect
	github.com/kr/fs v0.1.0 // indirect
	github.com/mdlayher/netlink v1.7.3-0.20250113171957-fbb4dce95f42 // indirect
	github.com/mdlayher/packet v1.1.2 // indirect
	github.com/mdlayher/socket v0.5.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/pelletier/go-toml/v2 v2.2.4 // indirect
	github.com/pierrec/lz4/v4 v4.1.14 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/sagikazarmark/locafero v0.11.0 // indirect
	github.com/sourcegraph/conc v0.3.1-0.20240121214520-5f936abd7ae8 // indirect
	github.com/spf13/afero v1.15.0 // indirect
	github.com/spf13/cast v1.10.0 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/subosito/gotenv v1.6.0 // indirect
	github.com/u-root/uio v0.0.0-20230220225925-ffce2a382923 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	honnef.co/go/tools v0.8.2 // indirect
)

tool honnef.co/go/tools/cmd/staticcheck

replace github.com/yerden/go-dpdk => ./dataplane/dpdk
