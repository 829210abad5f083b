// Compiles the device text for one target and reads everything the gates and the table need.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "code_object/code_object.hpp"
#include "device/plan.hpp"
#include "disassembly.hpp"
#include "model.hpp"

namespace sage::gates {

struct KernelFigures {
  const device::Tile* tile = nullptr;  // null for the prologue
  std::string name;
  code_object::KernelMetadata metadata;
  LoopCount loop;
  int occupancy = 0;
  double fraction = 0;
};

struct Measured {
  bool ok = false;
  std::string problem;  // why not
  code_object::CodeObject object;
  std::vector<KernelFigures> kernels;
};

// Needs clang++-19 and llvm-objdump-19 on PATH. Writes into `folder`.
[[nodiscard]] Measured measure(const std::filesystem::path& text, const Machine& machine,
                               const std::filesystem::path& folder);

// The command that compiles the text, shared by all who do.
[[nodiscard]] std::string compile_command(const std::string& compiler, const std::filesystem::path& text,
                                          std::string_view target, const std::filesystem::path& output);

}  // namespace sage::gates
