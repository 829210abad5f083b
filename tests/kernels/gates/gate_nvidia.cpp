// Usage: gate_nvidia DEVICE_TEXT SM. Compiles the device text with nvcc and reads ptxas' own account of every kernel,
// and the matrix instructions from the PTX that it was made of. Status 77: no nvcc.
//
// Spills are not forbidden here as they are on AMD: ptxas gives a thread at most 255 registers, and on an H200 the
// shapes with 32 queries a warp were faster with some ten bytes of spill than those with 16 queries and none. They are
// bounded, so that they cannot grow unseen.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "code_object/cubin.hpp"
#include "device/plan.hpp"
#include "programs.hpp"

namespace {

using namespace sage;

constexpr int most_registers = 255;
constexpr int most_shared_bytes_sm80 = 166912;  // 163 KiB; sm_90 has 227
constexpr int most_shared_bytes_sm89 = 101376;  // 99 KiB

// Bytes stored, for one thread. Head dim 256 does not fit into 255 registers in any shape that was tried.
int most_spill_bytes(const device::Tile& tile) {
  if (tile.dp == 256) return 256;
  return tile.length == device::Length::long_q ? 160 : 0;
}

struct Usage {
  int registers = 0;
  int spill_stores = 0;
  int spill_loads = 0;
};

std::optional<int> number_before(const std::string& text, const std::string& phrase, std::size_t from, std::size_t to) {
  const std::size_t at = text.find(phrase, from);
  if (at == std::string::npos || at >= to || at == 0) return std::nullopt;
  std::size_t start = at;
  while (start > from && (std::isdigit(static_cast<unsigned char>(text[start - 1])) != 0)) --start;
  int value = 0;
  if (std::from_chars(text.data() + start, text.data() + at, value).ptr == text.data() + start) return std::nullopt;
  return value;
}

std::map<std::string, Usage> read_usage(const std::string& log) {
  std::map<std::string, Usage> kernels;
  const std::string head = "Compiling entry function '";
  for (std::size_t at = log.find(head); at != std::string::npos;) {
    const std::size_t name = at + head.size();
    const std::size_t next = std::min(log.find(head, name), log.size());
    Usage usage;
    usage.registers = number_before(log, " registers", log.find("Used ", name) + 5, next).value_or(-1);
    usage.spill_stores = number_before(log, " bytes spill stores", name, next).value_or(-1);
    usage.spill_loads = number_before(log, " bytes spill loads", name, next).value_or(-1);
    kernels[log.substr(name, log.find('\'', name) - name)] = usage;
    at = next == log.size() ? std::string::npos : next;
  }
  return kernels;
}

// Matrix instructions of every kernel in PTX text.
std::map<std::string, int> read_matrix_counts(const std::string& ptx) {
  std::map<std::string, int> kernels;
  const std::string head = ".entry ";
  for (std::size_t at = ptx.find(head); at != std::string::npos;) {
    const std::size_t name = at + head.size();
    const std::size_t next = std::min(ptx.find(head, name), ptx.size());
    int& count = kernels[ptx.substr(name, ptx.find('(', name) - name)];
    for (std::size_t m = ptx.find("mma.sync", name); m < next; m = ptx.find("mma.sync", m + 1)) ++count;
    at = next == ptx.size() ? std::string::npos : next;
  }
  return kernels;
}

int gate(const std::string& text, unsigned sm) {
  const test::TemporaryFolder folder;
  const std::string output = (folder.path() / "kernels.cubin").string();
  const test::Outcome outcome =
      test::run("nvcc -std=c++17 -cubin -arch=sm_" + std::to_string(sm) + " -x cu -Xptxas -v --keep --keep-dir '" +
                folder.path().string() + "' -o '" + output + "' '" + text + "'");
  if (outcome.status != 0) {
    std::printf("FAIL nvcc ended with status %d:\n%s\n", outcome.status, outcome.output.c_str());
    return 1;
  }
  int failures = 0;
  const auto expect = [&failures](bool holds, const std::string& what) {
    if (holds) return;
    ++failures;
    std::printf("FAIL %s\n", what.c_str());
  };
  const auto cubin = code_object::read_cubin(test::read_file(output));
  if (!cubin) {
    std::printf("FAIL cubin: %s\n", cubin.error().message.c_str());
    return 1;
  }
  expect(cubin->sm == sm, "cubin is for sm_" + std::to_string(cubin->sm));
  std::string ptx;
  for (const auto& entry : std::filesystem::directory_iterator{folder.path()}) {
    if (entry.path().extension() != ".ptx") continue;
    const auto bytes = test::read_file(entry.path());
    ptx = std::string{code_object::as_text(bytes)};
  }
  const auto usage = read_usage(outcome.output);
  const auto matrices = read_matrix_counts(ptx);
  const auto has = [&](const std::string& name) {
    return std::find(cubin->kernels.begin(), cubin->kernels.end(), name) != cubin->kernels.end();
  };
  for (const char* const name : {device::statistics_kernel, device::finalise_kernel, device::quantise_kernel}) {
    expect(has(name), std::string{name} + " is missing");
    const auto found = usage.find(name);
    expect(found != usage.end() && found->second.spill_stores == 0, std::string{name} + " spills");
  }
  const int shared_limit = sm == 89 ? most_shared_bytes_sm89 : most_shared_bytes_sm80;
  std::printf("%-30s %9s %6s %10s %10s %8s %8s\n", "kernel", "registers", "mma", "spill out", "spill in", "shared",
              "threads");
  std::size_t expected = 3;
  for (const device::Tile& tile : device::tile_table) {
    if (tile.family != device::Family::nvidia || (tile.pv == device::PvType::fp8 && sm < 89)) continue;
    ++expected;
    const std::string name = tile.kernel;
    const auto found = usage.find(name);
    expect(has(name) && found != usage.end(), name + " is missing");
    if (found == usage.end()) continue;
    const Usage& u = found->second;
    const auto counted = matrices.find(name);
    const int mma = counted == matrices.end() ? 0 : counted->second;
    std::printf("%-30s %9d %6d %10d %10d %8d %8d\n", name.c_str(), u.registers, mma, u.spill_stores, u.spill_loads,
                device::tile_lds_bytes(tile), tile.threads());
    expect(u.registers > 0 && u.registers <= most_registers, name + ": registers");
    expect(u.registers * tile.threads() * std::max(1, tile.occupancy) <= 65536,
           name + ": the blocks that the table wants do not fit into the register file");
    expect(u.spill_stores >= 0 && u.spill_stores <= most_spill_bytes(tile),
           name + ": " + std::to_string(u.spill_stores) + " bytes of spills");
    expect(mma == device::tile_matrix_instructions(tile, false),
           name + ": " + std::to_string(mma) + " matrix instructions, expected " +
               std::to_string(device::tile_matrix_instructions(tile, false)));
    expect(device::tile_lds_bytes(tile) <= shared_limit, name + ": shared memory");
  }
  expect(cubin->kernels.size() == expected,
         std::to_string(cubin->kernels.size()) + " kernels, expected " + std::to_string(expected));
  std::printf("sm_%u: %d failed\n", sm, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (test::find_program("nvcc").empty()) {
    std::printf("skipped: nvcc is not on PATH\n");
    return 77;
  }
  return gate(argv[1], static_cast<unsigned>(std::atoi(argv[2])));
}
