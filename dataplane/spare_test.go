package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/dataplane/api"
)

// TestSpareMemory: what is left is the least of what the machine and the control groups around this program leave.
func TestSpareMemory(t *testing.T) {
	const mib = 1 << 20
	const machine = "MemTotal:       2097152 kB\nMemFree:         102400 kB\nMemAvailable:    1048576 kB\n"
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  uint64
	}{
		{"a kernel that says nothing", nil, math.MaxUint64},
		{"the machine alone", map[string]string{"proc/meminfo": machine}, 1024 * mib},
		{"a group without a limit", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.current": "1048576\n"}, 1024 * mib},
		{"a limited group", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "536870912\n", "sys/fs/cgroup/a/b/memory.current": "134217728\n"}, 384 * mib},
		{"pages of files go when they are in the way", map[string]string{"proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "536870912\n", "sys/fs/cgroup/a/memory.current": "134217728\n",
			"sys/fs/cgroup/a/memory.stat": "anon 5\ninactive_file 33554432\n"}, 416 * mib},
		{"the group around it is tighter", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "536870912\n", "sys/fs/cgroup/a/b/memory.current": "0\n",
			"sys/fs/cgroup/a/memory.max": "268435456\n", "sys/fs/cgroup/a/memory.current": "0\n"}, 256 * mib},
		{"version 1", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "3:cpuset:/\n4:memory:/c\n0::/\n",
			"sys/fs/cgroup/memory/c/memory.limit_in_bytes": "268435456\n", "sys/fs/cgroup/memory/c/memory.usage_in_bytes": "67108864\n",
			"sys/fs/cgroup/memory/c/memory.stat": "total_inactive_file 33554432\n"}, 224 * mib},
		{"more than there is", map[string]string{"proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "2000\n"}, 0},
	} {
		root := t.TempDir()
		for name, text := range tc.files {
			file := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := spareMemory(root); got != tc.want {
			t.Errorf("%s: %d bytes, not %d", tc.name, got, tc.want)
		}
	}
	if n := spareMemory("/"); n == 0 {
		t.Error("this machine has no memory left: tables cannot be built in other tests")
	}
}

// TestTablesBeyondMemoryChangeNothing: they are refused with their size, and the old ones stay in force.
func TestTablesBeyondMemoryChangeNothing(t *testing.T) {
	c, _, _ := startControl(t)
	if err := c.Apply(t.Context(), oneVserver(1)); err != nil {
		t.Fatal(err)
	}
	c.tableMemory = 1 << 20
	more := oneVserver(2)
	more.Config.Vservers[0].Method = api.SourceIPHash
	err := c.Apply(t.Context(), more)
	if err == nil || !strings.Contains(err.Error(), "MiB of memory") || !strings.Contains(err.Error(), "configuration 2") {
		t.Fatalf("tables beyond the limit are answered with %v", err)
	}
	s, err := c.Stats(t.Context())
	if err != nil || s.ConfigVersion != 1 {
		t.Errorf("configuration %d is in force: %v", s.ConfigVersion, err)
	}
	if err := c.Apply(t.Context(), &api.Tables{Health: &api.Health{Version: 2}, Neighbors: &api.Neighbors{Version: 2}}); err != nil {
		t.Errorf("news of services and neighbors are refused as well: %v", err)
	}
	c.tableMemory = 64 << 20
	if err := c.Apply(t.Context(), more); err != nil {
		t.Errorf("tables within the limit are refused: %v", err)
	}
}
