package host

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// applySysctls sets what holds for the whole namespace.
func (h *Host) applySysctls() error {
	errs := []error{
		// The dataplane forwards; the kernel must not do so behind its back.
		sysctl("net/ipv4/ip_forward", "0"),
		// Ports of a SNIP from 60000 are the kernel's, those below are the dataplane's.
		sysctl("net/ipv4/ip_local_port_range", "60000\t65535"),
	}
	// The limits of the neighbor table hold for the machine; in a namespace that is not the first they are not there.
	for name, value := range map[string]string{"gc_thresh1": "8192", "gc_thresh2": "32768", "gc_thresh3": "65536"} {
		errs = append(errs, sysctlIfBuilt("net/ipv4/neigh/default/"+name, value))
	}
	return errors.Join(errs...)
}

// twinSysctls sets what holds for one twin.
func twinSysctls(twin string) error {
	conf, neigh := "net/ipv4/conf/"+twin+"/", "net/ipv4/neigh/"+twin+"/"
	return errors.Join(
		sysctl(conf+"arp_ignore", "1"),                            // answer only for addresses of this twin
		sysctl(conf+"arp_announce", "2"),                          // ask with an address of the target's subnet
		sysctl(conf+"rp_filter", "2"),                             // loose: replies may come in by another port than routes say
		sysctl(conf+"promote_secondaries", "1"),                   // removing a subnet's first address keeps the others
		sysctl(neigh+"base_reachable_time_ms", "2000"),            // a neighbor's word holds so long: its card may be replaced
		sysctl(neigh+"ucast_solicit", "2"),                        // asks of a card that is silent before everybody is asked
		sysctl(neigh+"delay_first_probe_time", "1"),               // seconds; nothing but our own asking would confirm a neighbor
		sysctl(neigh+"mcast_resolicit", "2"),                      // asks of everybody when the known card is silent: it may have been replaced
		sysctlIfBuilt("net/ipv6/conf/"+twin+"/disable_ipv6", "1"), // the dataplane speaks IPv4 so far
	)
}

// sysctl sets a value unless it is set already.
func sysctl(name, value string) error {
	path := "/proc/sys/" + name
	now, err := os.ReadFile(path)
	if err == nil && strings.TrimSpace(string(now)) == value {
		return nil
	}
	if err == nil {
		err = os.WriteFile(path, []byte(value), 0)
	}
	if err != nil {
		return fmt.Errorf("cannot set kernel parameter %s to %s: %w", strings.ReplaceAll(name, "/", "."), value, cause(err))
	}
	return nil
}

// sysctlIfBuilt is for parameters that this kernel or namespace may not have.
func sysctlIfBuilt(name, value string) error {
	if err := sysctl(name, value); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// cause takes the path off an error of os: the sentence around it names the parameter already.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
