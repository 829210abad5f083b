#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

/// One kind of code that a PyTorch needs for a GPU, and the targets it has it for.
struct CodePart {
  std::string source;                  ///< file or folder that tells
  std::vector<std::string> listed;     ///< "gfx1201", "gfx90a:xnack-", "gfx120x-all", "amdgcnspirv"
  std::optional<Finding> unknown;      ///< set: `listed` may lack some; why
  bool split_by_target = false;        ///< the code comes in packages of its own, one a target
};

/// True when code listed as `listed` runs on `target`: the target itself with or without features, a family of AMD's
/// wheels, whose names have an x for the last digits ("gfx120x-all"), or SPIR-V, which is compiled for any.
[[nodiscard]] bool code_covers(std::string_view listed, std::string_view target);

/// True when any of `listed` covers any of `targets`.
[[nodiscard]] bool any_covers(const std::vector<std::string>& listed, const std::vector<std::string>& targets);

/// The parts of the PyTorch in use: its own kernels, and those of the math libraries (facts/wheels.md P6). Only after
/// skip_without_rocm_torch() gave nothing, and with a known family.
[[nodiscard]] std::vector<CodePart> code_parts(const Facts& facts);

}  // namespace sage
