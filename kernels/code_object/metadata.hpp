// What the compiler wrote about its kernels into the AMDGPU metadata note (NT_AMDGPU_METADATA, MessagePack).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace sage::code_object {

// Counts as the compiler states them; a key that is absent in the note stays at its default.
struct KernelMetadata {
  std::string name;
  std::string symbol;            // of the kernel descriptor: name + ".kd"
  std::uint32_t vgpr_count = 0;  // on gfx90a and later CDNA all vector registers, AGPRs included
  std::uint32_t agpr_count = 0;
  std::uint32_t sgpr_count = 0;
  std::uint32_t vgpr_spill_count = 0;
  std::uint32_t sgpr_spill_count = 0;
  std::uint32_t lds_bytes = 0;  // static; dynamic LDS is added at launch
  std::uint32_t scratch_bytes_per_lane = 0;
  std::uint32_t kernarg_bytes = 0;           // explicit and hidden arguments
  std::uint32_t explicit_kernarg_bytes = 0;  // up to the end of the last argument that the source declares
  std::uint32_t kernarg_alignment = 0;
  std::uint32_t wavefront_size = 0;
  std::uint32_t max_workgroup_size = 0;                    // flat
  std::array<std::uint32_t, 3> required_workgroup_size{};  // zeros when any size is accepted
  bool dynamic_stack = false;
};

struct Metadata {
  std::array<std::uint32_t, 2> version{};
  std::string target;  // "amdgcn-amd-amdhsa--gfx1201"; empty before code object version 4
  std::vector<KernelMetadata> kernels;
};

// `base` is the position of the note's contents in the file. Unknown keys are passed over: newer compilers add some.
// A key of the wrong type, a kernel without a name or symbol, and more than 131072 kernels are errors.
[[nodiscard]] Result<Metadata> read_metadata(ByteSpan note, std::uint64_t base);

}  // namespace sage::code_object
