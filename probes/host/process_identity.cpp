#include "probes/host/process_identity.hpp"

#include <dlfcn.h>
#include <grp.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include "probes/base/text.hpp"

namespace sage {
namespace {

std::vector<std::uint32_t> supplementary_groups() {
  const int count = getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
  const int got = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(got, 0)));
  return {groups.begin(), groups.end()};
}

/// Affinity masks are as long as the kernel's table of CPUs, which may be longer than cpu_set_t's 1,024.
std::uint32_t cpus_by_affinity() {
  for (std::size_t size = sizeof(cpu_set_t); size <= 128 * sizeof(cpu_set_t); size *= 2) {
    std::vector<cpu_set_t> mask(size / sizeof(cpu_set_t));
    if (sched_getaffinity(0, size, mask.data()) == 0) {
      return static_cast<std::uint32_t>(std::max(1, CPU_COUNT_S(size, mask.data())));
    }
    if (errno != EINVAL) break;
  }
  return 1;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::optional<UserEntry> find_user(std::string_view passwd, std::uint32_t uid) {
  for (const std::string_view line : lines(passwd)) {
    // name:password:uid:gid:comment:home:shell (passwd(5))
    const std::vector<std::string_view> parts = split(line, ':');
    if (parts.size() == 7 && !parts[0].empty() && parse_number(parts[2]) == uid) {
      return UserEntry{std::string(parts[0]), std::string(parts[5])};
    }
  }
  return std::nullopt;
}

ProcessIdentity identify_process(std::string_view passwd) {
  ProcessIdentity process;
  uid_t saved = 0;
  getresuid(&process.uid, &process.effective_uid, &saved);
  process.gid = getegid();
  process.groups = supplementary_groups();
  process.usable_cpus = cpus_by_affinity();

  // Not getpwuid(3): it loads the modules of nsswitch.conf, which may ask a directory server that does not answer.
  const auto user = find_user(passwd, process.uid);
  process.user = user ? user->name : variable("USER");
  if (process.user.empty()) process.user = std::to_string(process.uid);
  process.home = variable("HOME");
  if (process.home.empty() && user) process.home = user->home;

  utsname system = {};
  if (uname(&system) == 0) process.host_name = system.nodename;
  const std::unique_ptr<char, void (*)(void*)> folder(getcwd(nullptr, 0), std::free);
  if (folder) process.working_folder = folder.get();
  return process;
}

Result<LibcInfo> running_libc() {
  using GetVersion = const char* (*)();
  const auto glibc_version = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  if (glibc_version != nullptr) return LibcInfo{"glibc", glibc_version()};
  return LibcInfo{"musl", ""};
}

}  // namespace sage
