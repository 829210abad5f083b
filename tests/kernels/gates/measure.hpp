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

using namespace model;

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

enum class Tiles { every_build, alternatives };  // the rows of tiles.hpp, or those of alternatives.hpp

// Needs clang++-19 and llvm-objdump-19 on PATH. Writes into `folder`.
[[nodiscard]] Measured measure(const std::filesystem::path& text, const Machine& machine,
                               const std::filesystem::path& folder, Tiles tiles = Tiles::every_build);

// Whether a row is compiled for the machine, and belongs to `tiles`.
[[nodiscard]] bool is_measured(const device::Tile& tile, const Machine& machine, Tiles tiles);

// The command that compiles the text, shared by all who do.
[[nodiscard]] std::string compile_command(const std::string& compiler, const std::filesystem::path& text,
                                          std::string_view target, const std::filesystem::path& output);

}  // namespace sage::gates
