package osshell

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// end ends what a shell has left behind in the background: every process of its session (as of setsid(2)), by a hang-up and, after a
// moment, by a kill. A process that has begun a session of its own, as a daemon does, is none of it.
func end(session int) {
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		left := members(session)
		if len(left) == 0 {
			return
		}
		sig := syscall.SIGHUP
		if time.Since(begin) > grace/4 {
			sig = syscall.SIGKILL
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, sig)
			_ = syscall.Kill(pid, syscall.SIGCONT) // one that is stopped must wake up for it
		}
		if time.Since(begin) > 4*grace { // one that cannot die, such as in a broken file system
			return
		}
	}
}

// members are the live processes of a session, by /proc/PID/stat: behind the name, which is in parentheses, come the state, the
// parent, the process group and the session (proc(5)).
func members(session int) (pids []int) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 3 && fields[3] == strconv.Itoa(session) && fields[0] != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}
