// Trials on emulated lanes.
#pragma once

#include "trial.hpp"

namespace sage::trial {

// Runs Device::kernels on the lanes of kernels/emulator. Device::run of every emulated target.
Result run_emulated(const Device& device, const device::Problem& problem, const Options& options);

}  // namespace sage::trial
