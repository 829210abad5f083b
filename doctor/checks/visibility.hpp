#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

/// What one mask variable did to the list of GPUs that it was applied to.
struct MaskEffect {
  std::string variable;  ///< "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES" or "CUDA_VISIBLE_DEVICES"
  std::string value;
  std::size_t before = 0;  ///< GPUs that it had to choose from
  std::size_t after = 0;   ///< GPUs that it left
  std::optional<std::string>
      cut_at;  ///< the first entry that is no GPU (or a repeated one): the rest of the list is lost
};

/// Which GPUs programs see, as indices into Gpus::amd, in the programs' order: position i is HIP device i.
struct Visibility {
  std::vector<std::size_t> unmasked;  ///< what the runtime enumerates before any mask
  std::vector<std::size_t> runtime;   ///< after ROCR_VISIBLE_DEVICES: its positions are what the HIP masks count
  std::vector<std::size_t> hip;       ///< after HIP_VISIBLE_DEVICES, or CUDA_VISIBLE_DEVICES where that is empty
  std::vector<MaskEffect> masks;      ///< those that are set, in the order in which they work
};

/// Applies the masks as the runtime does (facts/gfx.md 4): ROCR_VISIBLE_DEVICES first, where an empty value hides every
/// GPU; then HIP's, which counts positions of the list that is left and where an empty value means "not set". The order
/// before any mask is KFD's, without the GPUs that a device cgroup or a missing render node hides; under WSL, where there is
/// no KFD, the order in which /dev/dxg lists the adapters.
/// Error: the fact that is unknown.
[[nodiscard]] Result<Visibility> visible_gpus(const Facts& facts);

}  // namespace sage
