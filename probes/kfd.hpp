#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/fact.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// A sysfs properties file of KFD: lines of "key <decimal number>".
class KfdProperties {
 public:
  /// `file` names the source in errors. Lines of any other form are passed over.
  KfdProperties(std::string_view text, std::string file);

  [[nodiscard]] bool has(std::string_view key) const;

  /// The number behind `key`. Error: the key is missing (old kernels lack some), or its value is no number or above
  /// `largest`.
  [[nodiscard]] Result<std::uint64_t> number(std::string_view key, std::uint64_t largest = UINT64_MAX) const;

 private:
  std::string file_;
  std::map<std::string, std::string, std::less<>> values_;
};

/// One GPU node of the KFD topology: a GPU, or one partition of it.
struct KfdNode {
  std::uint32_t number = 0;          ///< of the node in sysfs; CPU nodes count, numbers may have gaps
  Result<KfdProperties> properties;  ///< EPERM when a device cgroup hides the GPU
  Fact<bool> readable;               ///< gpu_id can be read: false when a device cgroup hides the GPU
  Fact<std::uint64_t> memory_bytes;  ///< of its own memory banks (heap types 1 and 2)
};

struct KfdTopology {
  std::vector<KfdNode> gpus;     ///< by node number
  std::optional<Error> unclear;  ///< a node that may be a GPU or not, and why
};

/// The kernel's list of compute nodes, /sys/class/kfd/kfd/topology (facts/gfx.md 3). Error: ENOENT without KFD, or what
/// failed. A topology that changes while it is read is read again.
[[nodiscard]] Result<KfdTopology> read_kfd_topology(const Host& host);

}  // namespace sage
