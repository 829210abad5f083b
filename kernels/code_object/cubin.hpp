// What must be known of an NVIDIA cubin before it is handed to the driver: for which architecture it is, which kernels it
// has, and what they need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace sage::code_object {

// From section .nv.info, whose attributes NVIDIA does not document; the numbers are those that ptxas -v prints. 0 where the
// section does not say.
struct CubinResources {
  std::uint32_t registers = 0;    // of a thread
  std::uint32_t frame_bytes = 0;  // stack of a thread; spilled registers lie there
};

struct Cubin {
  unsigned sm = 0;  // 80, 89, 90
  std::vector<std::string> kernels;
  std::vector<CubinResources> resources;  // one a kernel, in the same order
};

[[nodiscard]] Result<Cubin> read_cubin(ByteSpan file);

// A cubin runs on its own major architecture at the same or a later minor one.
[[nodiscard]] bool loads_on_sm(unsigned object_sm, unsigned device_sm);

}  // namespace sage::code_object
