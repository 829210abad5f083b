// Code objects that list the kernels which the emulated targets have (trial/emulated_kernels.cpp): the short tiles of head
// dim 64 and 128.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "device/plan.hpp"
#include "elf_builder.hpp"
#include "object_specs.hpp"

namespace sage::test {

struct EmulatedTarget {
  std::string_view name;
  device::Family family;
  std::uint32_t flags;  // e_flags of the ELF header
};

inline constexpr EmulatedTarget emulated_object_targets[] = {
    {"gfx1201", device::Family::gfx12, 0x4e},
    {"gfx1100", device::Family::gfx11, 0x41},
    {"gfx942", device::Family::gfx9, 0x54c},
};

inline Buffer emulated_object(std::string_view target) {
  for (const EmulatedTarget& one : emulated_object_targets) {
    if (one.name != target) continue;
    ObjectSpec spec = family_spec(one.family, one.flags, std::string{target});
    const auto absent = [](const KernelSpec& kernel) {
      const std::string_view name = kernel.name;
      const bool attention = name.starts_with("sage_attention_");
      return attention && (!name.ends_with("_SHORT") || (name.find("_d64_") == name.npos && name.find("_d128_") == name.npos));
    };
    spec.kernels.erase(std::remove_if(spec.kernels.begin(), spec.kernels.end(), absent), spec.kernels.end());
    return build_object(spec).file;
  }
  return {};
}

inline Buffer emulated_bundle() {
  std::vector<BundleSpecEntry> entries = {{"host-x86_64-unknown-linux--", {}}};
  for (const std::string_view target : {"gfx1100", "gfx942", "gfx1201"})
    entries.push_back({"hipv4-amdgcn-amd-amdhsa--" + std::string{target}, emulated_object(target)});
  return build_bundle(entries);
}

}  // namespace sage::test
