#include "doctor/build/without_kernels.hpp"

namespace sage {
namespace {

constexpr std::string_view sdpa_works =
    "What works: PyTorch's own scaled_dot_product_attention, where the PyTorch build has code for this GPU.";

}  // namespace

WithoutKernels without_kernels(std::string_view target, const GfxTables& tables) {
  const std::string name(target);
  if (target.starts_with("sm_")) {
    return {"there are no kernels for " + name + ": they need the int8 matrix instructions of sm_80 and later", {}};
  }
  const GfxTarget* known = tables.target(target);
  if (known != nullptr && known->generic) {
    return {"kernels are built for one GPU at a time, not for the generic target " + name,
            {"Name a target that it covers, such as " +
             (known->members.empty() ? std::string("gfx1201") : known->members.front()) + "."}};
  }
  if (name == "gfx950") {
    return {"there are no kernels for gfx950 yet: its fp8 format is another than that of gfx942, and nothing was checked "
            "for it",
            {std::string(sdpa_works), "AMD's aiter has attention kernels for gfx950."}};
  }
  const bool matrix = known != nullptr && (!known->wmma.empty() || !known->mfma.empty());
  if (matrix) {
    return {"there are no kernels for " + name + " yet: nothing was checked for its matrix instructions",
            {std::string(sdpa_works)}};
  }
  return {"there are no kernels for " + name + ": it has no matrix instructions for int8, and without them quantised "
          "attention is slower than plain attention",
          {std::string(sdpa_works),
           "The Triton kernels of sageattention 1.0.6 may run there, with wrong results at the end of sequences whose "
           "length is no multiple of their tile (sage-doctor explain python.sageattention)."}};
}

}  // namespace sage
