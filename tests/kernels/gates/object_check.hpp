// What an object made by any of the older compilers must be: for the target, complete, found by a runtime.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "code_object/bundle.hpp"
#include "code_object/code_object.hpp"
#include "device/plan.hpp"

namespace sage::gates {

// Opens a bundle if it is one. `only_dp` is the padded head dim of a subset, 0 for all. Prints what is wrong; true when
// nothing is.
inline bool check_old_object(code_object::ByteSpan bytes, std::string_view target, int only_dp) {
  using namespace code_object;
  ByteSpan contents = bytes;
  if (bundle_kind(bytes) == BundleKind::plain) {
    const auto table = read_bundle_table(bytes, bytes.size());
    if (!table) {
      std::printf("FAIL bundle: %s\n", table.error().message.c_str());
      return false;
    }
    contents = {};
    for (const BundleEntry& entry : table->entries) {
      if (entry.parsed().target == target) contents = bundle_contents(bytes, entry).value();
    }
  }
  const auto object = read_code_object(contents);
  if (!object) {
    std::printf("FAIL object: %s\n", object.error().message.c_str());
    return false;
  }
  bool good = true;
  const auto expect = [&good](bool holds, const std::string& what) {
    if (!holds) std::printf("FAIL %s\n", what.c_str());
    good = good && holds;
  };
  expect(object->target.processor == target, "object is for " + object->target.processor);
  std::size_t expected = 3;
  for (const char* const name : {device::statistics_kernel, device::finalise_kernel, device::quantise_kernel})
    expect(object->find_kernel(name) != nullptr, std::string{name} + " is missing");
  for (const device::Tile& tile : device::tile_table) {
    if (tile.family != device::Family::gfx9 || tile.pv != device::PvType::f16 || (only_dp != 0 && tile.dp != only_dp))
      continue;
    ++expected;
    expect(object->find_kernel(tile.kernel) != nullptr, std::string{tile.kernel} + " is missing");
  }
  expect(object->kernels.size() == expected,
         std::to_string(object->kernels.size()) + " kernels, expected " + std::to_string(expected));
  for (const Kernel& kernel : object->kernels) {
    expect(kernel.exported, kernel.metadata.name + " is not in the dynamic symbol table");
    expect(kernel.metadata.explicit_kernarg_bytes == sizeof(SageArgs), kernel.metadata.name + " takes other arguments");
    for (const std::string& complaint : contradictions(*object, kernel))
      expect(false, kernel.metadata.name + ": " + complaint);
    std::printf("%-30s code object %u, %3u VGPR (%u AGPR), %u bytes of scratch\n", kernel.metadata.name.c_str(),
                object->version, kernel.metadata.vgpr_count, kernel.metadata.agpr_count,
                kernel.metadata.scratch_bytes_per_lane);
  }
  return good;
}

}  // namespace sage::gates
