// A virtual machine shows itself in three places, none of them complete: the CPU flag (hidden by people who pass a GPU
// through, absent on ARM), the firmware's names in /sys/class/dmi/id (absent in Firecracker and Xen PV guests), and
// /sys/hypervisor (Xen). Firmware names of two kinds are told apart: a cloud also rents whole machines under its name,
// so such a name counts only together with the flag.

#include "probes/hypervisor.hpp"

#include <array>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

/// Several hundred processors write about 1.5 KiB each.
constexpr std::size_t cpuinfo_cap = 4 * 1024 * 1024;

struct FirmwareName {
  std::string_view vendor;   ///< part of sys_vendor
  std::string_view product;  ///< part of product_name
  std::string_view name;
  bool only_virtual;  ///< no physical machine has these names
};

constexpr std::array firmware_names = {
    FirmwareName{"Microsoft Corporation", "Virtual Machine", "microsoft", true},
    FirmwareName{"VMware", "", "vmware", true},
    FirmwareName{"innotek GmbH", "", "virtualbox", true},
    FirmwareName{"", "VirtualBox", "virtualbox", true},
    FirmwareName{"Parallels", "", "parallels", true},
    FirmwareName{"Xen", "", "xen", true},
    FirmwareName{"QEMU", "", "kvm", true},
    FirmwareName{"", "KVM", "kvm", true},
    FirmwareName{"Red Hat", "", "kvm", true},
    FirmwareName{"OpenStack", "", "kvm", true},
    FirmwareName{"Bochs", "", "bochs", true},
    FirmwareName{"BHYVE", "", "bhyve", true},
    FirmwareName{"Amazon EC2", "", "amazon", false},
    FirmwareName{"Google", "Google Compute Engine", "google", false},
    FirmwareName{"DigitalOcean", "", "kvm", false},
    FirmwareName{"Hetzner", "vServer", "kvm", true},
};

std::string_view after_colon(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon == std::string_view::npos ? std::string_view() : trim(line.substr(colon + 1));
}

bool is_key(std::string_view line, std::string_view key) {
  return line.starts_with(key) && trim(line.substr(key.size())).starts_with(':');
}

Fact<std::string> xen_type(const Host& host) {
  const Result<std::string> type = read_trimmed(host, "/sys/hypervisor/type");
  if (!type && is_absent(type.error())) return std::string();
  return type;
}

/// The row that the firmware's names match; nullptr when none does. Unknown when the names can't be read.
Fact<const FirmwareName*> firmware_row(const Host& host) {
  const Result<std::string> vendor = read_trimmed(host, "/sys/class/dmi/id/sys_vendor");
  const Result<std::string> product = read_trimmed(host, "/sys/class/dmi/id/product_name");
  if (!vendor && !product) return Fact<const FirmwareName*>::unknown(vendor.error());
  for (const FirmwareName& row : firmware_names) {
    if (contains(vendor.value_or(""), row.vendor) && contains(product.value_or(""), row.product)) return &row;
  }
  return nullptr;
}

Hypervisor found(std::string_view name) {
  return {true, std::string(name)};
}

}  // namespace

CpuInfo probe_cpu(const Host& host) {
  const Result<std::string> text = host.read_file("/proc/cpuinfo", cpuinfo_cap);
  if (!text) return {Fact<std::string>::unknown(text.error()), Fact<bool>::unknown(text.error())};

  CpuInfo cpu{Fact<std::string>::unknown("/proc/cpuinfo names no model"),
              Fact<bool>::unknown("/proc/cpuinfo lists no flags")};
  std::string_view rest = *text;
  // The first processor ends at an empty line.
  rest = rest.substr(0, rest.find("\n\n"));
  for (const std::string_view line : lines(rest)) {
    if (is_key(line, "model name")) cpu.model = std::string(after_colon(line));
    if (!is_key(line, "flags")) continue;
    cpu.under_hypervisor = false;
    for (const std::string_view flag : words(after_colon(line))) {
      if (flag == "hypervisor") cpu.under_hypervisor = true;
    }
  }
  return cpu;
}

Hypervisor probe_hypervisor(const Host& host, const CpuInfo& cpu) {
  const Fact<std::string> type = xen_type(host);
  if (type.known() && !type->empty()) return found(*type);

  const Fact<const FirmwareName*> firmware = firmware_row(host);
  const FirmwareName* row = firmware.value_or(nullptr);
  const bool flagged = cpu.under_hypervisor.value_or(false);
  if (row != nullptr && (row->only_virtual || flagged)) return found(row->name);
  if (flagged) {
    return {true, Fact<std::string>::unknown("the CPU reports a hypervisor; /sys/class/dmi/id does not name it")};
  }
  // "Not virtual" needs one place that would have said otherwise: the flag, or the firmware's names.
  if (cpu.under_hypervisor.known() || firmware.known()) return {false, std::string()};
  return {Fact<bool>::unknown(cpu.under_hypervisor.why_unknown()),
          Fact<std::string>::unknown(cpu.under_hypervisor.why_unknown())};
}

}  // namespace sage
