#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sage {

/// The masks as they are set; nullopt: not set.
struct VisibilityMasks {
  std::optional<std::string> rocr;  ///< ROCR_VISIBLE_DEVICES
  std::optional<std::string> hip;   ///< HIP_VISIBLE_DEVICES
  std::optional<std::string> cuda;  ///< CUDA_VISIBLE_DEVICES
};

/// Why a word of a mask names no GPU.
struct MaskProblem {
  std::string variable;
  std::string word;
  bool duplicate = false;  ///< names a GPU that the mask has named already
  bool cuts = false;       ///< the rest of the list is ignored
};

/// What the masks leave. GPUs are positions in the list that went in.
struct Visibility {
  std::vector<std::size_t> rocr;  ///< what ROCr programs see, in their order
  std::vector<std::size_t> hip;   ///< what HIP and PyTorch see: "cuda:0" is hip[0]
  std::string hip_variable;       ///< the variable that HIP obeys; empty when none
  std::vector<MaskProblem> problems;
};

/// Does what ROCr and HIP do with the masks (facts/gfx.md 4, from ROCr's and clr's sources). `uuids` has one entry per
/// GPU in the runtime's order: "GPU-<16 hex digits>", or empty when the GPU has none.
///
/// ROCr: a comma list of positions or UUID beginnings that fit exactly one GPU; the first wrong or repeated word ends
/// it; empty or "-1" leaves nothing. HIP: its own variable, or CUDA's when its own is unset or empty; positions in what
/// ROCr left; the first wrong word ends the list, repeated ones are passed over; empty means unset.
[[nodiscard]] Visibility simulate_visibility(const std::vector<std::string>& uuids, const VisibilityMasks& masks);

}  // namespace sage
