// The kernels of one emulated target as a part of the program. Compiled once per target with SAGE_EMULATED_<TARGET>
// defined, and with the selection of kernels that the program brings: all tiles would double its size.
//
// The same names mean another thing for each target: the fp8 format, the width of an MFMA, the kernels themselves. Tests
// have a program for each; here all targets come together, so each has its whole device text in a namespace that nobody
// else can see. Headers that are the same for all are included before it.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../emulator/machine.hpp"
#include "../emulator/matrix.hpp"
#include "../emulator/types.hpp"
#include "emulated.hpp"

namespace {

namespace sage_emulator {
using namespace ::sage_emulator;
}

#include "../emulator/device.hpp"

}  // namespace

namespace sage::trial {

// The short tiles: a workgroup of half the waves is emulated in half the time. With SAGE_ALTERNATIVES one more, for tests.
void SAGE_EMULATED_KERNELS(Device& device) {
  device.kernels = {
      {"sage_statistics", &sage_statistics},
      {"sage_finalise", &sage_finalise},
      {"sage_quantise", &sage_quantise},
#if defined(SAGE_EMULATED_SM90)
      {"sage_attention_sm90_d64_F16_SHORT", &sage_attention_sm90_d64_F16_SHORT},
      {"sage_attention_sm90_d128_F16_SHORT", &sage_attention_sm90_d128_F16_SHORT},
      {"sage_attention_sm90_d64_FP8_SHORT", &sage_attention_sm90_d64_FP8_SHORT},
      {"sage_attention_sm90_d128_FP8_SHORT", &sage_attention_sm90_d128_FP8_SHORT},
#else
      {"sage_attention_d64_F16_SHORT", &sage_attention_d64_F16_SHORT},
      {"sage_attention_d128_F16_SHORT", &sage_attention_d128_F16_SHORT},
#if !defined(SAGE_EMULATED_GFX11) && !defined(SAGE_EMULATED_GFX90A)
      {"sage_attention_d64_FP8_SHORT", &sage_attention_d64_FP8_SHORT},
      {"sage_attention_d128_FP8_SHORT", &sage_attention_d128_FP8_SHORT},
#endif
#if defined(SAGE_ALTERNATIVES) && defined(SAGE_EMULATED_GFX12)
      {"sage_attention_d64_F16_B128K64X", &sage_attention_d64_F16_B128K64X},
#endif
#endif
  };
}

}  // namespace sage::trial
