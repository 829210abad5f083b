#include "probes/host/kernel_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "probes/base/errno_name.hpp"
#include "probes/host/descriptor.hpp"

namespace sage {
namespace {

constexpr const char* path = "/dev/kmsg";
constexpr std::size_t most_records = 20'000;
constexpr std::size_t most_bytes = 8 * 1024 * 1024;
constexpr std::size_t longest_record = 8192;  // PRINTKRB_RECORD_MAX of the kernel; a shorter buffer gets EINVAL
constexpr int most_overwrites = 1000;

std::string_view message_of(std::string_view record) {
  const std::size_t prefix = record.find(';');
  if (prefix == std::string_view::npos) return {};
  record.remove_prefix(prefix + 1);
  return record.substr(0, record.find('\n'));
}

}  // namespace

Result<std::vector<std::string>> read_kernel_records(const ReadRecord& read_record) {
  std::vector<std::string> messages;
  std::size_t bytes = 0;
  int overwrites = 0;
  std::array<char, longest_record> record;
  while (messages.size() < most_records && bytes < most_bytes) {
    const ssize_t size = read_record(record.data(), record.size());
    if (size < 0 && errno == EINTR) continue;
    // The record was overwritten before we came; the next read goes on with the oldest that is left.
    if (size < 0 && errno == EPIPE && ++overwrites < most_overwrites) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) return system_error(errno, path);
    if (size == 0) break;
    messages.emplace_back(message_of({record.data(), static_cast<std::size_t>(size)}));
    bytes += messages.back().size();
  }
  return messages;
}

Result<std::vector<std::string>> read_kernel_log() {
  const Descriptor log(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!log.valid()) return system_error(errno, path);
  struct stat found = {};
  if (fstat(log.number(), &found) != 0) return system_error(errno, path);
  // Containers put /dev/null there, which would read as a log without a line.
  constexpr unsigned memory_devices = 1;
  constexpr unsigned kmsg = 11;
  if (!S_ISCHR(found.st_mode) || found.st_rdev != makedev(memory_devices, kmsg)) {
    return Error{ENODEV, std::string(path) + ": not the kernel log"};
  }
  return read_kernel_records([&](char* buffer, std::size_t size) { return read(log.number(), buffer, size); });
}

}  // namespace sage
