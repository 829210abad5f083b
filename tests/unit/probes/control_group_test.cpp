#include "probes/control_group.hpp"

#include <doctest/doctest.h>

#include "tests/support/memory_host.hpp"

namespace sage {

TEST_CASE("a quota of processor time counts as so many processors, rounded up") {
  MemoryHost host;
  host.file("/proc/self/cgroup", "0::/user.slice/job\n");
  CHECK(cpus_within_quota(host, 8) == 8);
  host.file("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  CHECK(cpus_within_quota(host, 8) == 8);
  host.file("/sys/fs/cgroup/user.slice/job/cpu.max", "250000 100000\n");
  CHECK(cpus_within_quota(host, 8) == 3);
  CHECK(cpus_within_quota(host, 2) == 2);
  host.file("/sys/fs/cgroup/user.slice/cpu.max", "1000 100000\n");
  CHECK(cpus_within_quota(host, 8) == 1);
}

TEST_CASE("version 1 has the quota and its period in two files") {
  MemoryHost host;
  host.file("/proc/self/cgroup", "4:cpu,cpuacct:/job\n2:memory:/job\n");
  host.file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000\n");
  host.file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  CHECK(cpus_within_quota(host, 8) == 8);
  host.file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
  CHECK(cpus_within_quota(host, 8) == 4);
}

TEST_CASE("a quota that makes no sense is none") {
  for (const char* text : {"", "0 100000", "100000 0", "100000", "a b", "-1 100000", "1 2 3", "99999999999999999999 1"}) {
    MemoryHost host;
    host.file("/proc/self/cgroup", "0::/job\n");
    host.file("/sys/fs/cgroup/job/cpu.max", text);
    INFO(text);
    CHECK(cpus_within_quota(host, 8) == 8);
  }
}

}  // namespace sage
