#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "doctor/diagnose/clean_line.hpp"
#include "doctor/diagnose/log_reader.hpp"

// The first byte is the size of the pieces that the rest comes in.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t chunk = data[0] + std::size_t{1};
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  sage::LogReader reader([&](char* into, std::size_t room) -> sage::Result<std::size_t> {
    const std::size_t count = std::min({chunk, room, rest.size()});
    std::memcpy(into, rest.data(), count);
    rest.remove_prefix(count);
    return count;
  });
  sage::LineCleaner cleaner;
  sage::LogLine line;
  std::uint64_t last = 1;
  while (reader.next(line)) {
    if (line.number < last || line.number > last + 1 || line.text.size() > sage::LogReader::longest_piece) std::abort();
    last = line.number;
    for (const std::string_view part : cleaner.parts(line.text)) {
      if (part.empty() || part.find_first_of("\x1b\r\b\x7f") != std::string_view::npos) std::abort();
      if (part.find('\0') != std::string_view::npos) std::abort();
    }
  }
  if (reader.bytes() != size - 1) std::abort();
  return 0;
}
