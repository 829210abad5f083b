// The GPU of the test program, opened once.
#pragma once

#include "../../../kernels/trial/gpu.hpp"
#include "../emulated/device_under_test.hpp"

namespace sage::test {

// With the code objects of the folder that SAGE_CODE_OBJECTS names. Ends the program with 77 (skipped) where there is no
// GPU, no driver library or no such folder.
const Gpu& the_gpu();

}  // namespace sage::test
