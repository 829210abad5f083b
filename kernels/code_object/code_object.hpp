// An AMDGPU code object: target, kernels with the resources they need, kernel descriptors.
//
// The same numbers are in a file twice: the compiler's metadata note says what it meant, the 64-byte kernel descriptor
// is what the command processor obeys. Both are read, and `contradictions` compares them, because a verdict on
// registers that rests on one alone can be talked into anything by a damaged or edited file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"
#include "metadata.hpp"
#include "target.hpp"

namespace sage::code_object {

struct KernelDescriptor {
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes_per_lane = 0;
  std::uint32_t kernarg_bytes = 0;
  std::int64_t entry_offset = 0;  // of the code, relative to the descriptor
  std::uint32_t rsrc3 = 0;
  std::uint32_t rsrc1 = 0;
  std::uint32_t rsrc2 = 0;
  std::uint16_t properties = 0;
  std::uint16_t kernarg_preload = 0;

  [[nodiscard]] bool wave32() const { return (properties & 0x400U) != 0; }
  // Vector registers that the hardware sets aside for a wave, from rsrc1; empty for processors whose unit is not known
  // here.
  [[nodiscard]] std::optional<std::uint32_t> allocated_vgprs(const Target& target) const;
  // 3 keeps f32 denormals, 0 flushes them.
  [[nodiscard]] std::uint32_t f32_denormal_mode() const { return (rsrc1 >> 16U) & 3U; }
};

struct Kernel {
  KernelMetadata metadata;
  std::optional<KernelDescriptor> descriptor;  // empty when the file has no symbol for it
  bool exported = false;                       // in the dynamic symbol table: the runtime's loader finds it by name
  std::uint64_t code_size = 0;                 // bytes of instructions; 0 when no symbol says
};

struct CodeObject {
  Target target;
  unsigned version = 0;  // code object version: 3 and later
  std::vector<Kernel> kernels;
  std::string metadata_target;  // as the note names it, "" when it does not

  [[nodiscard]] const Kernel* find_kernel(std::string_view name) const;
};

// Target and version from the first 64 bytes of a file.
[[nodiscard]] Result<CodeObject> identify(ByteSpan first_64_bytes);

// The whole file. Relocatable objects (the linker's input) are Errc::unsupported.
[[nodiscard]] Result<CodeObject> read_code_object(ByteSpan file);

// Where metadata, descriptor and target disagree, one sentence each; empty for a sound kernel.
[[nodiscard]] std::vector<std::string> contradictions(const CodeObject& object, const Kernel& kernel);

}  // namespace sage::code_object
