// How many threads this process can run at once: its CPU affinity, and its control groups' CPU quota.
//
// The number of processors of the host says nothing inside a container. On Linux it is the smaller of
//   the CPUs that sched_getaffinity allows, and
//   quota / period, rounded up, of every control group that the process is in, up to the root of what it can see:
//   cpu.max in version 2, cpu.cfs_quota_us and cpu.cfs_period_us in version 1.
// The groups and where they are mounted come from /proc/self/cgroup and /proc/self/mountinfo. Anything that cannot be
// read sets no limit. Elsewhere it is what the standard library says. Source: cgroups(7), proc(5).
// Tested by tests/kernel/test_thread_pool.py.
#pragma once

#include <string>

namespace maskwright {

// At least 1. `file_root` is put before every path; tests keep a tree of their own there.
unsigned available_cpus(const std::string& file_root = "");

}  // namespace maskwright
