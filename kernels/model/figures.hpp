// What clang 19.1.7 makes of each kernel, counted once and kept, so that the model can be asked where no compiler and no
// disassembler is. `kernel_table <build>/kernels/sage_kernels.hip --figures` prints the rows anew; the gates compare.
#pragma once

#include <span>
#include <string_view>

#include "model.hpp"

namespace sage::model {

struct Figures {
  std::string_view target;  // of a family whose members compile alike: the first one
  std::string_view kernel;
  int vgprs;
  int int8, f16, fp8;  // matrix instructions in the loop
  int hot;             // issue slots of an iteration, matrix instructions included
  int rescale;         // more with the rescale body
};

[[nodiscard]] std::span<const Figures> all_figures();

// The target whose figures stand for `target`: gfx1101 compiles like gfx1100. Empty where there are none.
[[nodiscard]] std::string_view figures_target(std::string_view target);

// Null where there are none.
[[nodiscard]] const Figures* find_figures(std::string_view target, std::string_view kernel);

struct Modelled {
  double fraction = 0;    // of the peak matrix rate, 0 to 1
  int waves_per_simd = 0;
};
[[nodiscard]] Modelled modelled(const Figures& figures, const device::Tile& tile);

}  // namespace sage::model
