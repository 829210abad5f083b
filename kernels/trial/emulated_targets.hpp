// The emulated targets of the program itself, with the few kernels of each that it carries.
#pragma once

#include <string_view>

#include "trial.hpp"

namespace sage::trial {

// The emulated target whose kernels are those of `target` ("gfx1201": gfx12; "sm_90": nvidia); nullptr where no kernels
// exist for it.
[[nodiscard]] const Device* emulated_target_for(std::string_view target);

}  // namespace sage::trial
