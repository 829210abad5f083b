#include "probes/pci.hpp"

#include <cerrno>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

constexpr const char* devices_folder = "/sys/bus/pci/devices";
constexpr std::uint32_t display_class = 0x03;
constexpr std::uint32_t accelerator_class = 0x12;

bool may_be_gpu(std::uint32_t device_class) {
  const std::uint32_t base_class = device_class >> 16;
  return base_class == display_class || base_class == accelerator_class;
}

/// No /sys/bus/pci in a /sys/bus that is there: a machine without PCI (WSL, some virtual machines).
bool has_no_pci(const Host& host) {
  const auto pci = host.status("/sys/bus/pci");
  return !pci.ok() && pci.error().number == ENOENT && host.status("/sys/bus").ok();
}

}  // namespace

Result<PciGpus> list_pci_gpus(const Host& host) {
  const auto addresses = host.list_folder(devices_folder);
  if (!addresses) {
    if (has_no_pci(host)) return PciGpus{};
    return addresses.error();
  }
  PciGpus gpus;
  for (const std::string& address : *addresses) {
    const auto device_class = read_pci_number(host, address, "class");
    if (device_class.ok() && !may_be_gpu(*device_class)) continue;
    const auto vendor = device_class.ok() ? read_pci_number(host, address, "vendor") : device_class;
    if (!vendor) {
      gpus.unclear = vendor.error();
    } else if (*device_class >> 16 == display_class || *vendor == amd_vendor_id) {
      gpus.found.push_back({address, *vendor});
    }
  }
  return gpus;
}

std::string pci_folder(const std::string& address) {
  return std::string(devices_folder) + "/" + address;
}

Result<std::uint32_t> read_pci_number(const Host& host, const std::string& address, const std::string& name) {
  const std::string file = pci_folder(address) + "/" + name;
  const auto text = read_trimmed(host, file);
  if (!text) return text.error();
  const auto number = parse_number(*text, 16);
  if (!number || *number > UINT32_MAX) return Error{0, file + ": not a hex number"};
  return static_cast<std::uint32_t>(*number);
}

std::string pci_address(std::uint32_t domain, std::uint32_t location) {
  return hex(domain, 4) + ":" + hex(location >> 8 & 0xff, 2) + ":" + hex(location >> 3 & 0x1f, 2) + "." +
         hex(location & 7);
}

std::string describe_pci_gpu(std::uint32_t vendor_id, std::uint32_t device_id) {
  std::string vendor = "vendor";
  if (vendor_id == 0x10de) vendor = "NVIDIA";
  if (vendor_id == 0x8086) vendor = "Intel";
  if (vendor_id == amd_vendor_id) vendor = "AMD";
  return vendor + " " + hex(vendor_id, 4) + ":" + hex(device_id, 4);
}

}  // namespace sage
