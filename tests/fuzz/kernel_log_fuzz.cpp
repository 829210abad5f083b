#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "probes/host/kernel_log.hpp"

// The first byte of each record says how long it is, 0 that the read fails with EPIPE.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto messages = sage::read_kernel_records([&](char* buffer, std::size_t room) -> ssize_t {
    if (size == 0) return errno = EAGAIN, -1;
    std::size_t length = *data++;
    --size;
    if (length == 0) return errno = EPIPE, -1;
    length = std::min({length, size, room});
    std::memcpy(buffer, data, length);
    data += length;
    size -= length;
    return static_cast<ssize_t>(length);
  });
  if (!messages.ok()) return 0;
  for (const std::string& message : *messages) {
    if (message.find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
