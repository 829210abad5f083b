#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

constexpr std::uint32_t amd_vendor_id = 0x1002;

/// A PCI device that shows pictures (class 0x03) or, from AMD, an accelerator (class 0x12: Instinct).
struct PciGpu {
  std::string address;  ///< "0000:03:00.0"
  std::uint32_t vendor_id = 0;
};

struct PciGpus {
  std::vector<PciGpu> found;     ///< in the order of their addresses
  std::optional<Error> unclear;  ///< a device that may be a GPU or not, and why
};

/// Empty on a machine without PCI. Error: sysfs could not tell.
[[nodiscard]] Result<PciGpus> list_pci_gpus(const Host& host);

/// The sysfs folder of a PCI device.
[[nodiscard]] std::string pci_folder(const std::string& address);

/// A file of a PCI device that holds one hex number: "device", "revision".
[[nodiscard]] Result<std::uint32_t> read_pci_number(const Host& host, const std::string& address,
                                                    const std::string& name);

/// "0000:03:00.0" of a domain and the 16 bits bus<<8 | device<<3 | function.
[[nodiscard]] std::string pci_address(std::uint32_t domain, std::uint32_t location);

/// "NVIDIA 10de:2684", "vendor 1af4:1050".
[[nodiscard]] std::string describe_pci_gpu(std::uint32_t vendor_id, std::uint32_t device_id);

}  // namespace sage
