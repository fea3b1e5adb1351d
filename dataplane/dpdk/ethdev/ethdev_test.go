package ethdev_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/yerden/go-dpdk/ethdev"
	"github.com/yerden/go-dpdk/internal/testeal"
	"github.com/yerden/go-dpdk/mbuf"
	"github.com/yerden/go-dpdk/mempool"
)

// net_ring1 hands back what is sent to it; net_null0 makes 60-byte frames and swallows what is sent.
func TestMain(m *testing.M) {
	os.Exit(testeal.Main(m.Run, "--vdev=net_null0,size=60", "--vdev=net_ring1"))
}

var pool *mempool.Mempool

// start brings a port up with one queue each way, for all tests: a port is configured once.
func start(t *testing.T, name string, opts ...ethdev.Option) ethdev.Port {
	t.Helper()
	if pool == nil {
		mp, err := mempool.CreateMbufPool("pool", 1023, 2048)
		if err != nil {
			t.Fatal(err)
		}
		pool = mp
	}
	pid, err := ethdev.GetPortByName(name)
	if err != nil {
		t.Fatal(err)
	}
	check(t, pid.DevConfigure(1, 1, opts...))
	check(t, pid.RxqSetup(0, 64, pool, ethdev.OptSocket(0), ethdev.OptRxqConf(ethdev.RxqConf{FreeThresh: 8})))
	check(t, pid.TxqSetup(0, 64, ethdev.OptTxqConf(ethdev.TxqConf{FreeThresh: 8})))
	check(t, pid.Start())
	t.Cleanup(pid.Stop)
	return pid
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPorts(t *testing.T) {
	if n := ethdev.CountAvail(); n != 2 {
		t.Errorf("%d ports", n)
	}
	if p := ethdev.ValidPorts(); !slices.Equal(p, []ethdev.Port{0, 1}) {
		t.Errorf("ports %v", p)
	}
	if _, err := ethdev.GetPortByName("net_none"); !errors.Is(err, syscall.ENODEV) || !strings.Contains(err.Error(), "net_none") {
		t.Errorf("unknown port: %v", err)
	}
	for what, err := range map[string]error{
		"start": ethdev.Port(9).Start(), "promisc": ethdev.Port(9).PromiscEnable(), "stats": ethdev.Port(9).StatsReset(),
	} {
		if !errors.Is(err, syscall.ENODEV) || !strings.HasPrefix(err.Error(), "port 9: ") {
			t.Errorf("%s of port 9: %v", what, err)
		}
	}
}

func TestNullPortReceivesSendsAndCounts(t *testing.T) {
	pid := start(t, "net_null0")
	check(t, pid.StatsReset())
	before := pool.AvailCount()
	var pkts [32]*mbuf.Mbuf
	if n := pid.RxBurst(0, pkts[:]); n != 32 {
		t.Fatalf("received %d", n)
	}
	for _, m := range pkts {
		if len(m.Data()) != 60 || m.PktLen() != 60 {
			t.Fatalf("%d bytes of %d", len(m.Data()), m.PktLen())
		}
	}
	if n := pid.TxBurst(0, pkts[:]); n != 32 {
		t.Fatalf("sent %d", n)
	}
	if pid.RxBurst(0, nil) != 0 || pid.TxBurst(0, nil) != 0 {
		t.Error("an empty table carried packets")
	}
	if pool.AvailCount() != before {
		t.Errorf("%d buffers free, %d before", pool.AvailCount(), before)
	}
	var s ethdev.Stats
	check(t, pid.StatsGet(&s))
	// net_null counts no bytes.
	if got, want := *s.Cast(), (ethdev.GoStats{Ipackets: 32, Opackets: 32}); got != want {
		t.Errorf("counters %+v, want %+v", got, want)
	}
	checkXstats(t, pid, "rx_good_packets", 32)
}

func checkXstats(t *testing.T, pid ethdev.Port, name string, want uint64) {
	t.Helper()
	names, err := pid.XstatNames()
	check(t, err)
	values := make([]ethdev.Xstat, len(names))
	n, err := pid.XstatsGet(values)
	if err != nil || n != len(names) {
		t.Fatalf("%d of %d extended counters: %v", n, len(names), err)
	}
	for _, x := range values {
		if names[x.Index].String() == name {
			if x.Value != want {
				t.Errorf("%s is %d, want %d", name, x.Value, want)
			}
			return
		}
	}
	t.Errorf("no %s among %d", name, n)
}

func TestRingPortHandsBackTheSamePackets(t *testing.T) {
	pid := start(t, "net_ring1")
	sent, got := make([]*mbuf.Mbuf, 5), make([]*mbuf.Mbuf, 32)
	check(t, mbuf.PktMbufAllocBulk(pool, sent))
	for i, m := range sent {
		check(t, m.PktMbufAppend([]byte{byte(i)}))
	}
	if n := pid.RxBurst(0, got); n != 0 {
		t.Fatalf("received %d of nothing", n)
	}
	if n := pid.TxBurst(0, sent); n != 5 {
		t.Fatalf("sent %d", n)
	}
	if n := pid.RxBurst(0, got); n != 5 || !slices.Equal(got[:5], sent) {
		t.Fatalf("received %d: %v, sent %v", n, got[:5], sent)
	}
	mbuf.PktMbufFreeBulk(got[:5])
	check(t, pid.PromiscEnable())
	check(t, pid.PromiscDisable())
}

func TestWhatAPortTells(t *testing.T) {
	pid := start(t, "net_null0")
	var info ethdev.DevInfo
	check(t, pid.InfoGet(&info))
	if info.DriverName() != "net_null" || info.MaxMTU() < 1500 {
		t.Errorf("driver %q, MTU up to %d", info.DriverName(), info.MaxMTU())
	}
	link, err := pid.EthLinkGetNowait()
	if err != nil || !link.Status() || !link.Duplex() || link.AutoNeg() || link.Speed() != 10000 {
		t.Errorf("link %+v, %v", link, err)
	}
	mtu, err := pid.GetMTU()
	if err != nil || mtu != 1500 {
		t.Errorf("MTU %d, %v", mtu, err)
	}
	if err := pid.SetMTU(1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("MTU 1: %v", err)
	}
	var mac ethdev.MACAddr
	check(t, pid.MACAddrGet(&mac))
	if hw := mac.HardwareAddr(); len(hw) != 6 || hw.String() != mac.String() || hw[0]&1 != 0 {
		t.Errorf("MAC %v, %v", hw, &mac)
	}
	if err := pid.Reset(); !errors.Is(err, syscall.ENOTSUP) {
		t.Errorf("net_null cannot be reset: %v", err)
	}
}

func TestRSS(t *testing.T) {
	const mqRxRSS, hashIPv4 = 1, 1 << 2 // RTE_ETH_MQ_RX_RSS, RTE_ETH_RSS_IPV4
	pid := start(t, "net_null0", ethdev.OptRxMode(ethdev.RxMode{MqMode: mqRxRSS}), ethdev.OptRss(ethdev.RssConf{Hf: hashIPv4}))
	key := make([]byte, 40)
	for i := range key {
		key[i] = byte(i + 1)
	}
	check(t, pid.RssHashUpdate(&ethdev.RssConf{Key: key, Hf: hashIPv4}))
	got := ethdev.RssConf{Key: make([]byte, 40)}
	check(t, pid.RssHashConfGet(&got))
	if !slices.Equal(got.Key, key) || got.Hf != hashIPv4 {
		t.Errorf("%+v, want key %v", got, key)
	}
	if err := pid.RssHashUpdate(&ethdev.RssConf{Key: make([]byte, 256)}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a key of 256 bytes: %v", err)
	}
	table := make([]ethdev.RssRetaEntry64, 2)
	for i := range table {
		*table[i].Mask() = ^uint64(0)
		if len(table[i].Reta()) != 64 {
			t.Fatalf("%d entries a piece", len(table[i].Reta()))
		}
	}
	check(t, pid.RssRetaUpdate(table, 128))
	table[1].Reta()[63] = 9
	check(t, pid.RssRetaQuery(table, 128))
	if q := table[1].Reta()[63]; q != 0 {
		t.Errorf("queue %d, want 0", q)
	}
	if err := pid.RssRetaQuery(table, 129); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("2 pieces for 129 entries: %v", err)
	}
}

func TestConfigure(t *testing.T) {
	pid, err := ethdev.GetPortByName("net_null0")
	check(t, err)
	check(t, pid.DevConfigure(1, 1, ethdev.OptRxMode(ethdev.RxMode{MTU: 1400}), ethdev.OptTxMode(ethdev.TxMode{})))
	if mtu, err := pid.GetMTU(); mtu != 1400 || err != nil {
		t.Errorf("MTU %d, %v", mtu, err)
	}
	check(t, pid.DevConfigure(1, 1, ethdev.OptRxMode(ethdev.RxMode{MTU: 1500})))
	const noDriverHasIt = 1 << 63
	for what, opt := range map[string]ethdev.Option{
		"rx offload": ethdev.OptRxMode(ethdev.RxMode{Offloads: noDriverHasIt}),
		"tx offload": ethdev.OptTxMode(ethdev.TxMode{Offloads: noDriverHasIt}),
		"hash":       ethdev.OptRss(ethdev.RssConf{Hf: noDriverHasIt}),
		"key":        ethdev.OptRss(ethdev.RssConf{Key: make([]byte, 256)}),
	} {
		if err := pid.DevConfigure(1, 1, opt); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := pid.DevConfigure(4000, 1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("4000 queues: %v", err)
	}
}
