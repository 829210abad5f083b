// Names of AMD GPU targets: what an ELF header's e_flags say, what a bundle entry's id says, and whether a code object
// loads on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "result.hpp"

namespace sage::code_object {

// XNACK (retry on page fault) and SRAM-ECC change code generation, so they are part of a target's identity.
enum class Feature : std::uint8_t {
  unsupported,  // the processor has no such mode
  any,          // the code runs in either mode
  off,
  on
};

struct Target {
  std::string processor;  // "gfx1201", "gfx12-generic"
  std::uint8_t mach = 0;  // EF_AMDGPU_MACH, the low byte of e_flags
  Feature xnack = Feature::unsupported;
  Feature sramecc = Feature::unsupported;
  std::uint8_t generic_version = 0;  // 0 for a specific processor; generic processors start at 1

  [[nodiscard]] bool generic() const { return generic_version != 0; }
  bool operator==(const Target&) const = default;
};

// e_flags have had three layouts; EI_ABIVERSION tells which: 1 is code object version 3, 2 and above are 4 and later.
// Version 2 (EI_ABIVERSION 0) does not hold the processor in e_flags: Errc::unsupported.
[[nodiscard]] Result<Target> target_from_flags(std::uint32_t e_flags, std::uint8_t abi_version);

// A target id as compilers, bundles and the runtime write it: "gfx90a:sramecc+:xnack-". A feature that is not named
// is `any` where the processor has it.
[[nodiscard]] Result<Target> parse_target_id(std::string_view id);

// The inverse: features appear only when they are on or off, in the canonical order (sramecc before xnack).
[[nodiscard]] std::string target_id(const Target& target);

// Whether the runtime's loader accepts `object` on an agent that reports `agent`: same processor, or a generic
// processor that covers it, and each feature of the object either `any` or equal to the agent's.
[[nodiscard]] bool loads_on(const Target& object, const Target& agent);

// "gfx12-generic" for gfx1201; empty where there is none.
[[nodiscard]] std::optional<std::string_view> generic_of(std::string_view processor);

[[nodiscard]] std::string_view to_text(Feature feature);

}  // namespace sage::code_object
