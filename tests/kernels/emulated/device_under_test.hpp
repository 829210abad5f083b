// What the test cases run on: each test program defines it once.
#pragma once

#include "../../../kernels/trial/trial.hpp"

namespace sage::test {

using namespace trial;

const Device& device_under_test();

}  // namespace sage::test
