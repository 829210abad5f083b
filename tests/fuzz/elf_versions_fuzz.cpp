#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "probes/host/elf_versions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const sage::NameLookup name_at = [](std::uint64_t offset) -> std::optional<std::string> {
    if (offset > 1'000'000) return std::nullopt;
    return std::to_string(offset);
  };
  (void)sage::parse_version_needs(bytes, UINT64_MAX, name_at);
  (void)sage::parse_version_definitions(bytes, UINT64_MAX, name_at);
  return 0;
}
