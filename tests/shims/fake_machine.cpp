// Preloaded (LD_PRELOAD) into sage-doctor, this library shows it another machine:
//
//   SAGE_FAKE_ROOT=DIR   a path P that exists below DIR is that file ("/proc/sys/kernel/osrelease" and the like)
//   SAGE_FAKE_DXG=NAME   /dev/dxg exists and its ioctls answer as the scenario says:
//     amd-9070xt  one AMD adapter and Microsoft's software adapter
//     nvidia      one NVIDIA adapter
//     none        no adapter at all
//     hang        the enumeration never returns
//     garbage     64 adapters with nonsense in every field
//     liar        the count is negative
//     closed      opening fails with EACCES
//   SAGE_FAKE_DEAD=DIR   a call on DIR, or on a path below it, never returns, as on the mount of a server that is gone
//   SAGE_FAKE_LOG=FILE   every path that is named is written there, after the number of the process: "4711 /etc/passwd"
//
// Only calls that name a path, and ioctl, are replaced. Where a path is not concerned the real function is called.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probes/host/dxg_protocol.hpp"

namespace {

namespace protocol = sage::dxg_protocol;

constexpr std::string_view dxg = "/dev/dxg";
constexpr unsigned dxg_minor = 126;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string_view scenario() {
  return variable("SAGE_FAKE_DXG");
}

bool is_dxg(const char* path) {
  return path != nullptr && path == dxg && !scenario().empty();
}

void log_path(std::string_view path) {
  const std::string_view file = variable("SAGE_FAKE_LOG");
  if (file.empty()) return;
  const std::string line = std::to_string(getpid()) + " " + std::string(path) + "\n";
  const long log = syscall(SYS_openat, AT_FDCWD, file.data(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  [[maybe_unused]] const long written = syscall(SYS_write, log, line.data(), line.size());
  syscall(SYS_close, log);
}

void hang_where_dead(std::string_view path) {
  const std::string_view dead = variable("SAGE_FAKE_DEAD");
  if (dead.empty() || !path.starts_with(dead)) return;
  if (path.size() == dead.size() || path[dead.size()] == '/') {
    while (true) pause();
  }
}

/// The path below SAGE_FAKE_ROOT when something is there, else the path itself.
const char* redirected(const char* path) {
  static thread_local char buffer[2 * PATH_MAX];
  const std::string_view root = variable("SAGE_FAKE_ROOT");
  if (path != nullptr) {
    log_path(path);
    hang_where_dead(path);
  }
  if (path == nullptr || path[0] != '/' || root.empty()) return path;
  const std::string_view name = path;
  if (root.size() + name.size() >= sizeof buffer) return path;
  memcpy(buffer, root.data(), root.size());
  memcpy(buffer + root.size(), name.data(), name.size() + 1);
  struct stat found;
  return syscall(SYS_newfstatat, AT_FDCWD, buffer, &found, AT_SYMLINK_NOFOLLOW) == 0 ? buffer : path;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int show_dxg(struct stat* status) {
  *status = {};
  status->st_mode = S_IFCHR | 0666;
  status->st_nlink = 1;
  status->st_rdev = makedev(10, dxg_minor);
  return 0;
}

int fail(int number) {
  errno = number;
  return -1;
}

/// The descriptor of the fake device is one of /dev/null at a number that nobody else gets.
constexpr int dxg_descriptor = 777;

int open_dxg() {
  if (scenario() == "closed") return fail(EACCES);
  const long null = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
  const long number = syscall(SYS_dup3, null, dxg_descriptor, O_CLOEXEC);
  syscall(SYS_close, null);
  return static_cast<int>(number);
}

int open_path(int folder, const char* path, int flags, mode_t mode) {
  if (is_dxg(path)) return open_dxg();
  const long number = syscall(SYS_openat, folder, redirected(path), flags, mode);
  return static_cast<int>(number);  // syscall(2) sets errno
}

struct Adapter {
  std::uint32_t vendor;
  std::uint32_t device;
  std::u16string_view name;
  std::uint64_t memory;
  std::uint64_t driver;
  std::uint32_t type;
};

constexpr std::uint64_t version(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  return a << 48 | b << 32 | c << 16 | d;
}

constexpr Adapter radeon = {
    0x1002, 0x7550, u"AMD Radeon RX 9070 XT", std::uint64_t{16} << 30, version(32, 0, 31041, 1004), 0x1 | 0x10 | 0x80};
constexpr Adapter geforce = {
    0x10de, 0x2684, u"NVIDIA GeForce RTX 4090", std::uint64_t{24} << 30, version(32, 0, 15, 8142), 0x1 | 0x10 | 0x80};
constexpr Adapter software = {0x1414, 0x008c, u"Microsoft Basic Render Driver", 0, version(10, 0, 26100, 1), 0x1 | 0x4};

std::uint32_t adapter_count() {
  if (scenario() == "amd-9070xt") return 2;
  if (scenario() == "garbage") return protocol::most_adapters;
  if (scenario() == "liar") return static_cast<std::uint32_t>(-1);
  return scenario() == "none" ? 0 : 1;
}

const Adapter& adapter_of(std::uint32_t handle) {
  if (handle == 2) return software;
  return scenario() == "nvidia" ? geforce : radeon;
}

template <class Answer>
int answer(const protocol::QueryAdapterInfo& query, const Answer& value) {
  if (query.data_size != sizeof value) return fail(EINVAL);
  memcpy(reinterpret_cast<void*>(query.data), &value, sizeof value);
  return 0;
}

int query(const protocol::QueryAdapterInfo& asked) {
  if (scenario() == "garbage") {
    memset(reinterpret_cast<void*>(asked.data), 0xa5, asked.data_size);
    return 0;
  }
  const Adapter& adapter = adapter_of(asked.handle);
  switch (asked.type) {
    case protocol::SegmentSizes::type:
      return answer(asked, protocol::SegmentSizes{adapter.memory, 0, std::uint64_t{8} << 30});
    case protocol::RegistryInfo::type: {
      protocol::RegistryInfo info;
      adapter.name.copy(info.adapter.data(), info.adapter.size() - 1);
      return answer(asked, info);
    }
    case protocol::WddmVersion::type:
      return answer(asked, protocol::WddmVersion{3200});
    case protocol::AdapterType::type:
      return answer(asked, protocol::AdapterType{adapter.type});
    case protocol::UserModeDriverVersion::type:
      return answer(asked, protocol::UserModeDriverVersion{adapter.driver});
    case protocol::DeviceIds::type:
      return answer(asked, protocol::DeviceIds{0, adapter.vendor, adapter.device, 0, 0, 0xc0, 0});
    default:
      return fail(EINVAL);
  }
}

int dxg_ioctl(unsigned long request, void* argument) {
  while (scenario() == "hang") pause();
  if (request == protocol::enumerate_adapters) {
    auto* const list = static_cast<protocol::EnumerateAdapters*>(argument);
    const std::uint32_t count = adapter_count();
    auto* const adapters = reinterpret_cast<protocol::AdapterInfo*>(list->adapters);
    for (std::uint32_t i = 0; i < count && i < list->count; ++i) adapters[i].handle = i + 1;
    list->count = count;
    return 0;
  }
  if (request == protocol::query_adapter_info) return query(*static_cast<protocol::QueryAdapterInfo*>(argument));
  if (request == protocol::close_adapter) return 0;
  return fail(ENOTTY);
}

mode_t mode_argument(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  va_end(arguments);
  return open_path(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  va_end(arguments);
  return open_path(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  va_end(arguments);
  return open_path(folder, path, flags, mode);
}

// With _FORTIFY_SOURCE.
int __open_2(const char* path, int flags) {
  return open_path(AT_FDCWD, path, flags, 0);
}
int __open64_2(const char* path, int flags) {
  return open_path(AT_FDCWD, path, flags, 0);
}

int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
  if (is_dxg(path)) return show_dxg(status);
  return static_cast<int>(syscall(SYS_newfstatat, folder, redirected(path), status, flags));
}

int stat(const char* path, struct stat* status) noexcept {
  return fstatat(AT_FDCWD, path, status, 0);
}

int lstat(const char* path, struct stat* status) noexcept {
  return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

// glibc before 2.33 and _FILE_OFFSET_BITS=64 name the same calls differently.
int fstatat64(int folder, const char* path, struct stat64* status, int flags) noexcept {
  return fstatat(folder, path, reinterpret_cast<struct stat*>(status), flags);
}

int __fxstatat(int /*version*/, int folder, const char* path, struct stat* status, int flags) noexcept {
  return fstatat(folder, path, status, flags);
}

int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  if (is_dxg(path)) return scenario() == "closed" ? fail(EACCES) : 0;
  return real<int(int, const char*, int, int)>("faccessat")(folder, redirected(path), mode, flags);
}

int access(const char* path, int mode) noexcept {
  return faccessat(AT_FDCWD, path, mode, 0);
}

ssize_t readlink(const char* path, char* text, size_t size) noexcept {
  if (is_dxg(path)) return fail(EINVAL);
  return syscall(SYS_readlinkat, AT_FDCWD, redirected(path), text, size);
}

ssize_t __readlink_chk(const char* path, char* text, size_t size, size_t /*room*/) noexcept {
  return readlink(path, text, size);
}

int ioctl(int file, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (file == dxg_descriptor && !scenario().empty()) return dxg_ioctl(request, argument);
  return static_cast<int>(syscall(SYS_ioctl, file, request, argument));
}
}
