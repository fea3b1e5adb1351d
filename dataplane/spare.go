package main

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// spareMemory is how many bytes of memory this program may still take: what the machine, and every control group that it is in, has
// left. root is where the kernel's files are: "/" but in tests. There is no bound where the kernel tells none.
func spareMemory(root string) uint64 {
	free := uint64(math.MaxUint64)
	if kib, ok := field(path.Join(root, "proc/meminfo"), "MemAvailable:"); ok {
		free = kib << 10
	}
	for _, g := range memoryGroups(root) {
		free = min(free, g.free())
	}
	return free
}

// memoryGroup is a control group's folder and how its version calls the files in it.
type memoryGroup struct{ dir, limit, usage, cache string }

// memoryGroups are the group of this program that counts memory and all groups around it, of version 1 or 2.
func memoryGroups(root string) []memoryGroup {
	b, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	var groups []memoryGroup
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(f) != 3 {
			continue
		}
		base, g := "", memoryGroup{}
		switch f[1] {
		case "":
			base, g = "sys/fs/cgroup", memoryGroup{limit: "memory.max", usage: "memory.current", cache: "inactive_file"}
		case "memory":
			base, g = "sys/fs/cgroup/memory", memoryGroup{limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", cache: "total_inactive_file"}
		default:
			continue
		}
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			g.dir = path.Join(root, base, dir)
			groups = append(groups, g)
			if dir == "/" {
				break
			}
		}
	}
	return groups
}

// free is what the group may still take: what its files' pages hold that are in nobody's way counts as free.
func (g *memoryGroup) free() uint64 {
	limit, limited := number(path.Join(g.dir, g.limit))
	usage, known := number(path.Join(g.dir, g.usage))
	if !limited || !known {
		return math.MaxUint64 // no limit ("max"), or no such group here
	}
	cache, _ := field(path.Join(g.dir, "memory.stat"), g.cache)
	usage -= min(usage, cache)
	return limit - min(limit, usage)
}

// number is the number that a file of the kernel holds.
func number(file string) (uint64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

// field is the number behind a name in a file of lines of names and numbers.
func field(file, name string) (uint64, bool) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		w := strings.Fields(s.Text())
		if len(w) > 1 && w[0] == name {
			n, err := strconv.ParseUint(w[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
