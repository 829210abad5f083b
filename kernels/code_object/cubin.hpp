// What the runtime must know of an NVIDIA cubin before it hands it to the driver: for which architecture it is and
// which kernels it has. Registers and spills of cubins come from NVIDIA's own tools.
#pragma once

#include <string>
#include <vector>

#include "bytes.hpp"

namespace sage::code_object {

struct Cubin {
  unsigned sm = 0;  // 80, 89, 90
  std::vector<std::string> kernels;
};

[[nodiscard]] Result<Cubin> read_cubin(ByteSpan file);

// A cubin runs on its own major architecture at the same or a later minor one.
[[nodiscard]] bool loads_on_sm(unsigned object_sm, unsigned device_sm);

}  // namespace sage::code_object
