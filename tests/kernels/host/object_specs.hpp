// Code objects that have every kernel of a family, by name and arguments; there is no code in them.
#pragma once

#include <string>

#include "device/plan.hpp"
#include "elf_builder.hpp"

namespace sage::test {

inline ObjectSpec family_spec(device::Family family, std::uint32_t flags, const std::string& target) {
  ObjectSpec spec;
  spec.flags = flags;
  spec.target = "amdgcn-amd-amdhsa--" + target;
  spec.kernels.clear();
  const auto add = [&](const char* name, int threads) {
    KernelSpec kernel;
    kernel.name = name;
    kernel.arguments = sizeof(SageArgs);
    kernel.kernarg = (sizeof(SageArgs) + 7) / 8 * 8;
    kernel.max_threads = static_cast<std::uint32_t>(threads);
    kernel.wave = family == device::Family::gfx9 ? 64 : 32;
    spec.kernels.push_back(kernel);
  };
  for (const char* const name : {device::statistics_kernel, device::finalise_kernel, device::quantise_kernel})
    add(name, device::prologue_threads);
  for (const device::Tile& tile : device::tile_table) {
    if (tile.family == family) add(tile.kernel, tile.threads());
  }
  return spec;
}

}  // namespace sage::test
