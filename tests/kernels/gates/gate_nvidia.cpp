// Usage: gate_nvidia DEVICE_TEXT SM. Compiles the device text with nvcc and holds registers, spills, shared memory and
// matrix instructions against the tile table and the alternatives. Status 77: no nvcc.
//
// ptxas gives a thread at most 255 registers and the kernels use nearly all of them. Nothing may spill: on an H200, 30 to 60
// bytes cost 40 to 60 TFLOPS.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "measure_nvidia.hpp"
#include "programs.hpp"

namespace {

using namespace sage;

constexpr int most_registers = 255;

const gates::NvidiaKernel* find(const gates::NvidiaMeasured& measured, std::string_view name) {
  const auto found = std::find_if(measured.kernels.begin(), measured.kernels.end(),
                                  [&](const gates::NvidiaKernel& kernel) { return kernel.name == name; });
  return found == measured.kernels.end() ? nullptr : &*found;
}

int gate(const std::string& text, const gates::NvidiaMachine& machine) {
  const test::TemporaryFolder folder;
  const gates::NvidiaMeasured measured = gates::measure_nvidia(text, machine, folder.path(), true);
  if (!measured.problem.empty()) {
    std::printf("FAIL %s\n", measured.problem.c_str());
    return 1;
  }
  int failures = 0;
  const auto expect = [&failures](bool holds, const std::string& what) {
    if (holds) return;
    ++failures;
    std::printf("FAIL %s\n", what.c_str());
  };
  const auto expect_no_spills = [&expect](const gates::NvidiaKernel& kernel) {
    expect(kernel.stack == 0 && kernel.spill_stores == 0 && kernel.spill_loads == 0,
           kernel.name + ": " + std::to_string(kernel.stack) + " bytes of stack, " + std::to_string(kernel.spill_stores) +
               " spilled, " + std::to_string(kernel.spill_loads) + " loaded again");
  };
  const auto& names = measured.cubin.kernels;
  const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  expect(measured.cubin.sm == machine.sm, "cubin is for sm_" + std::to_string(measured.cubin.sm));
  for (const char* const name : {device::statistics_kernel, device::finalise_kernel, device::quantise_kernel}) {
    const gates::NvidiaKernel* const kernel = find(measured, name);
    expect(has(name) && kernel != nullptr, std::string{name} + " is missing");
    if (kernel != nullptr) expect_no_spills(*kernel);
  }
  std::size_t expected = 3;
  for (std::size_t i = 0; i < device::tile_count; ++i) {
    const device::Tile& tile = device::tile_at(i);
    if (tile.family != gates::family_of(machine) || (tile.pv == device::PvType::fp8 && !machine.fp8)) continue;
    ++expected;
    const std::string name = tile.kernel;
    const gates::NvidiaKernel* const kernel = find(measured, name);
    expect(has(name) && kernel != nullptr, name + " is missing");
    if (kernel == nullptr) continue;
    expect_no_spills(*kernel);
    expect(kernel->registers > 0 && kernel->registers <= most_registers, name + ": registers");
    expect(kernel->registers * tile.threads() * std::max(1, tile.occupancy) <= 65536,
           name + ": the blocks that the table wants do not fit into the register file");
    const int wanted = device::tile_matrix_instructions(tile, machine.wide_fp8);
    expect(kernel->matrix == wanted,
           name + ": " + std::to_string(kernel->matrix) + " matrix instructions, expected " + std::to_string(wanted));
    expect(device::tile_lds_bytes(tile) <= machine.shared_bytes_per_block, name + ": shared memory");
    expect(kernel->blocks >= 1, name + ": does not fit onto an SM");
  }
  expect(names.size() == expected, std::to_string(names.size()) + " kernels, expected " + std::to_string(expected));
  std::printf("sm_%u: %zu kernels, %d failed\n", machine.sm, names.size(), failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const gates::NvidiaMachine* const machine = gates::find_nvidia_machine(static_cast<unsigned>(std::atoi(argv[2])));
  if (machine == nullptr) {
    std::fprintf(stderr, "gate_nvidia: unknown target sm_%s\n", argv[2]);
    return 2;
  }
  if (test::find_program("nvcc").empty()) {
    std::printf("skipped: nvcc is not on PATH\n");
    return 77;
  }
  return gate(argv[1], *machine);
}
