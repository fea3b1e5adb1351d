package platforms

import "testing"

func TestProfilesAreSound(t *testing.T) {
	all, err := All()
	if err != nil || len(all) < 3 {
		t.Fatalf("%d profiles, %v", len(all), err)
	}
	for _, p := range all {
		if p.Name == "" || p.About == "" || len(p.Sizes) == 0 {
			t.Errorf("profile %+v is not whole", p)
		}
		for i, s := range p.Sizes {
			if s.Workers&(s.Workers-1) != 0 || s.Workers < 1 || s.Workers > 16 || s.Memory < 64 || s.Flows < 1024 || s.Sessions < 1024 {
				t.Errorf("%s: size %+v", p.Name, s)
			}
			if i > 0 && (s.CPUs < p.Sizes[i-1].CPUs || s.MiB <= p.Sizes[i-1].MiB || s.Workers > s.CPUs) {
				t.Errorf("%s: sizes do not ascend at %+v", p.Name, s)
			}
			// Flows of 72 bytes and sessions of 128 leave room for everything else.
			if mib := s.Memory + s.Flows*72>>20 + s.Sessions*128>>20; i > 0 && mib > s.MiB/2 {
				t.Errorf("%s: %+v takes %d MiB", p.Name, s, mib)
			}
		}
	}
}

func TestProfileFitsTheMachine(t *testing.T) {
	for _, row := range []struct {
		name    string
		m       Machine
		want    string
		workers int
	}{
		{"", Machine{true, "QEMU TCG CPU version 2.5+", 2, 970}, "emulated", 1},
		{"", Machine{true, "Intel Xeon Processor (Skylake)", 4, 3900}, "virtual", 2},
		{"", Machine{true, "AMD EPYC", 8, 2000}, "virtual", 1},
		{"", Machine{false, "Intel(R) Xeon(R) Gold", 64, 128000}, "metal", 16},
		{"virtual", Machine{false, "x", 1, 500}, "virtual", 1},
	} {
		p, err := Choose(row.name, row.m)
		if err != nil {
			t.Errorf("%+v: %v", row.m, err)
			continue
		}
		if s := p.For(row.m); p.Name != row.want || s.Workers != row.workers {
			t.Errorf("%+v gets %s with %d workers, want %s with %d", row.m, p.Name, s.Workers, row.want, row.workers)
		}
	}
	if _, err := Choose("moon", Machine{}); err == nil {
		t.Error("a profile that is not there is given")
	}
}
