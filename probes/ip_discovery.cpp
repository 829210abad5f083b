#include "probes/ip_discovery.hpp"

#include <cstdint>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

constexpr std::uint64_t largest_part = 255;

/// "12.0.1" from the three files of one IP instance. The file "revision" is the third number of the version, not the
/// PCI revision.
Result<std::string> read_version(const Host& host, const std::string& instance) {
  std::string version;
  for (const char* part : {"major", "minor", "revision"}) {
    const std::string file = instance + "/" + part;
    const auto text = read_trimmed(host, file);
    if (!text) return text.error();
    const auto number = parse_number(*text);
    if (!number || *number > largest_part) return Error{0, file + ": not a number up to 255"};
    version += (version.empty() ? "" : ".") + std::to_string(*number);
  }
  return version;
}

}  // namespace

Result<std::string> read_gc_version(const Host& host, const std::string& device_folder) {
  const std::string die = device_folder + "/ip_discovery/die/0/";
  auto version = read_version(host, die + "GC/0");
  if (version.ok()) return version;
  // GC is an alias of hardware id 11; a kernel that lacks the alias has the number.
  const auto by_number = read_version(host, die + "11/0");
  return by_number.ok() ? by_number : version;
}

}  // namespace sage
