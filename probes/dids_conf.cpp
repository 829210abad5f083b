#include "probes/dids_conf.hpp"

#include <optional>

#include "probes/base/text.hpp"
#include "probes/gfx_tables.hpp"

namespace sage {
namespace {

constexpr std::size_t most_devices = 256;
constexpr std::uint64_t largest_pci_id = 0xffff;

std::optional<AllowedDevice> parse_line(std::string_view line, const std::string& file) {
  line = line.substr(0, line.find('#'));
  const std::size_t comma = line.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto device_id = parse_number(trim(line.substr(0, comma)), 16);
  if (!device_id || *device_id > largest_pci_id) return std::nullopt;

  // The rest is a version as HSA_OVERRIDE_GFX_VERSION has it, with commas for dots.
  std::string version;
  for (const std::string_view part : split(line.substr(comma + 1), ',')) {
    if (!version.empty()) version += '.';
    version += trim(part);
  }
  const auto target = target_of_override(version);
  if (!target) return std::nullopt;
  return AllowedDevice{file, static_cast<std::uint32_t>(*device_id), *target};
}

}  // namespace

std::vector<AllowedDevice> parse_dids_conf(std::string_view text, const std::string& file) {
  std::vector<AllowedDevice> devices;
  for (const std::string_view line : lines(text)) {
    if (devices.size() == most_devices) break;
    if (auto device = parse_line(line, file)) devices.push_back(std::move(*device));
  }
  return devices;
}

}  // namespace sage
