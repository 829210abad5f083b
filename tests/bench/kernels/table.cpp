// Usage: kernel_table DEVICE_TEXT [--limits | --figures | --alternatives] [TARGET...]
// Prints for every attention kernel what clang-19 (gfx...) or nvcc (sm_80, sm_89, sm_90) makes of it, so that a change
// can be judged. --alternatives: the rows of alternatives.hpp. --limits prints rows for tests/kernels/gates/limits.cpp, --figures
// the whole of kernels/model/figures.inc (AMD targets only).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "limits.hpp"
#include "measure.hpp"
#include "measure_nvidia.hpp"
#include "programs.hpp"

namespace {

using namespace sage;

std::string_view limits_target(const gates::Machine& machine) {
  return machine.family == device::Family::gfx11 ? "gfx1100" : machine.target;
}

void print_head() {
  std::printf(
      "Static figures of clang-19's output. \"model\" is the share of peak that an additive count of issue slots "
      "gives:\n"
      "a model, not a measurement; nothing here was timed on a GPU.\n\n");
  std::printf("%-8s %-30s %9s %6s %4s %4s %5s %6s %3s  %-14s %5s %7s %5s %5s %8s %5s %6s\n", "target", "kernel",
              "BM x BN", "waves", "VGPR", "AGPR", "SGPR", "LDS", "occ", "int8+f16+fp8", "hot", "rescale", "rare",
              "waits", "slots/mx", "goal", "model");
}

void print_row(const gates::Machine& machine, const gates::KernelFigures& kernel) {
  const gates::LoopCount& loop = kernel.loop;
  const device::Tile& tile = *kernel.tile;
  const gates::Limit* const limit = gates::find_limit(limits_target(machine), kernel.name);
  const std::string shape = std::to_string(tile.queries()) + "x" + std::to_string(tile.keys);
  const std::string matrix =
      std::to_string(loop.matrix.int8) + "+" + std::to_string(loop.matrix.f16) + "+" + std::to_string(loop.matrix.fp8);
  const std::string goal = limit == nullptr || limit->goal == 0 ? "-" : std::to_string(limit->goal);
  std::printf("%-8s %-30s %9s %6d %4u %4u %5u %6u %3d  %-14s %5d %7d %5d %5d %8.2f %5s %6.2f\n",
              std::string{machine.target}.c_str(), kernel.name.c_str(), shape.c_str(), tile.waves,
              kernel.metadata.vgpr_count, kernel.metadata.agpr_count, kernel.metadata.sgpr_count,
              kernel.metadata.lds_bytes, kernel.occupancy, matrix.c_str(), loop.hot, loop.rescale, loop.rare,
              loop.waits, static_cast<double>(loop.slots()) / std::max(1, loop.matrix.total()), goal.c_str(),
              kernel.fraction);
  if (kernel.metadata.scratch_bytes_per_lane != 0 || kernel.metadata.vgpr_spill_count != 0) {
    std::printf("         ^ SPILLS: %u bytes of scratch, %u registers\n", kernel.metadata.scratch_bytes_per_lane,
                kernel.metadata.vgpr_spill_count);
  }
}

void print_limit(const gates::Machine& machine, const gates::KernelFigures& kernel) {
  const gates::Limit* const limit = gates::find_limit(limits_target(machine), kernel.name);
  const int vgprs = static_cast<int>(kernel.metadata.vgpr_count) * 103 / 100;
  const int slots = kernel.loop.slots() * 103 / 100;
  const int goal = limit == nullptr ? 0 : limit->goal;
  std::printf("    {\"%s\", \"%s\", %d, %d, %d},\n", std::string{machine.target}.c_str(), kernel.name.c_str(),
              std::min(vgprs, machine.family == device::Family::gfx9 ? 512 : 256),
              goal == 0 ? slots : std::min(slots, goal), goal);
}

void print_figures(const gates::Machine& machine, const gates::KernelFigures& kernel) {
  const gates::LoopCount& loop = kernel.loop;
  std::printf("    {\"%s\", \"%s\", %u, %d, %d, %d, %d, %d},\n", std::string{machine.target}.c_str(), kernel.name.c_str(),
              kernel.metadata.vgpr_count, loop.matrix.int8, loop.matrix.f16, loop.matrix.fp8, loop.hot, loop.rescale);
}

enum class Print { table, limits, figures };

// False, with the reason on stderr, when the compiler fails.
bool print_amd(const std::string& text, const gates::Machine& machine, gates::Tiles tiles, Print print) {
  const test::TemporaryFolder folder;
  const gates::Measured measured = gates::measure(text, machine, folder.path(), tiles);
  if (!measured.ok) {
    std::fprintf(stderr, "%s: %s\n", std::string{machine.target}.c_str(), measured.problem.c_str());
    return false;
  }
  for (const gates::KernelFigures& kernel : measured.kernels) {
    if (kernel.tile == nullptr) continue;
    switch (print) {
      case Print::table: print_row(machine, kernel); break;
      case Print::limits: print_limit(machine, kernel); break;
      case Print::figures: print_figures(machine, kernel); break;
    }
  }
  return true;
}

void print_nvidia_head() {
  std::printf("\n%-8s %-30s %9s %6s %9s %9s %8s %6s %9s %8s\n", "target", "kernel", "BM x BN", "warps", "registers",
              "spill out", "spill in", "shared", "blocks/SM", "mma");
}

// False, with the reason on stderr, when nvcc fails.
bool print_nvidia(const std::string& text, const gates::NvidiaMachine& machine) {
  const test::TemporaryFolder folder;
  const gates::NvidiaMeasured measured = gates::measure_nvidia(text, machine, folder.path());
  if (!measured.problem.empty()) {
    std::fprintf(stderr, "sm_%u: %s\n", machine.sm, measured.problem.c_str());
    return false;
  }
  print_nvidia_head();
  for (const gates::NvidiaKernel& kernel : measured.kernels) {
    if (kernel.tile == nullptr) continue;
    const device::Tile& tile = *kernel.tile;
    const std::string shape = std::to_string(tile.queries()) + "x" + std::to_string(tile.keys);
    std::printf("sm_%-5u %-30s %9s %6d %9d %9d %8d %6d %9d %8d\n", machine.sm, kernel.name.c_str(), shape.c_str(),
                tile.waves, kernel.registers, kernel.spill_stores, kernel.spill_loads, device::tile_lds_bytes(tile),
                kernel.blocks, kernel.matrix);
  }
  return true;
}

const gates::NvidiaMachine* find_sm(const std::string& target) {
  if (!target.starts_with("sm_")) return nullptr;
  return gates::find_nvidia_machine(static_cast<unsigned>(std::atoi(target.c_str() + 3)));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> targets;
  std::string text;
  Print print = Print::table;
  gates::Tiles tiles = gates::Tiles::every_build;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--limits") {
      print = Print::limits;
    } else if (argument == "--figures") {
      print = Print::figures;
    } else if (argument == "--alternatives") {
      tiles = gates::Tiles::alternatives;
    } else if (text.empty()) {
      text = argument;
    } else {
      targets.push_back(argument);
    }
  }
  if (text.empty()) {
    std::fprintf(stderr, "usage: kernel_table DEVICE_TEXT [--limits | --figures | --alternatives] [TARGET...]\n");
    return 2;
  }
  const bool all = print == Print::table && tiles == gates::Tiles::every_build;
  const bool with_nvidia = targets.empty() && all && !test::find_program("nvcc").empty();
  if (targets.empty())
    targets = all ? std::vector<std::string>{"gfx1201", "gfx1100", "gfx1102", "gfx1151", "gfx90a", "gfx942"}
                  : std::vector<std::string>{"gfx1201", "gfx1100", "gfx90a", "gfx942"};
  if (with_nvidia) targets.insert(targets.end(), {"sm_80", "sm_89", "sm_90"});
  if (print == Print::table) print_head();
  int failures = 0;
  for (const std::string& target : targets) {
    if (const gates::NvidiaMachine* const sm = find_sm(target); sm != nullptr) {
      if (!print_nvidia(text, *sm)) ++failures;
      continue;
    }
    const gates::Machine* const machine = gates::find_machine(target);
    if (machine == nullptr) {
      std::fprintf(stderr, "kernel_table: unknown target %s\n", target.c_str());
      return 2;
    }
    if (!print_amd(text, *machine, tiles, print)) ++failures;
    if (print == Print::figures && !print_amd(text, *machine, gates::Tiles::alternatives, print)) ++failures;
  }
  return failures == 0 ? 0 : 1;
}
