#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/build/compile/units.hpp"
#include "probes/gfx_tables.hpp"

namespace sage {

/// What one kernel needs of a GPU, as its code object says. Of cubins registers and stack only.
struct KernelResources {
  std::string kernel;
  std::uint32_t vgprs = 0;       ///< registers of a thread
  std::uint32_t sgprs = 0;
  std::uint32_t lds_bytes = 0;   ///< static
  std::uint32_t scratch_bytes = 0;
  std::uint32_t spilled_registers = 0;  ///< vector and scalar
};

struct VerifiedObject {
  std::string bytes;                      ///< the code object alone, out of its bundle; empty when there is none
  std::vector<KernelResources> kernels;
  std::vector<std::string> refusals;      ///< not usable, and why: "the code object is for gfx90a"
  std::vector<std::string> complaints;    ///< usable, but not as good as the table promises: "... uses 64 bytes of scratch"
  std::vector<std::string> notes;         ///< worth telling, no reason to prefer another

  [[nodiscard]] bool usable() const { return refusals.empty(); }
  [[nodiscard]] bool clean() const { return refusals.empty() && complaints.empty(); }
};

/// Reads back what a compiler wrote for `unit` of `target`. Any bytes are accepted.
[[nodiscard]] VerifiedObject verify_object(std::string_view bytes, std::string_view target, const Unit& unit,
                                           const GfxTables& tables);

}  // namespace sage
