#include "measure_nvidia.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "programs.hpp"

namespace sage::gates {
namespace {

constexpr auto machines = std::to_array<NvidiaMachine>({
    {80, 166912, 167936, 64, false, false},
    {89, 101376, 102400, 48, true, true},
    {90, 232448, 233472, 64, true, false},
});
constexpr int registers_per_sm = 65536;
constexpr int shared_bytes_reserved = 1024;  // by the system, in each block

std::optional<int> number_before(const std::string& text, const std::string& phrase, std::size_t from, std::size_t to) {
  const std::size_t at = text.find(phrase, from);
  if (at == std::string::npos || at >= to || at == 0) return std::nullopt;
  std::size_t start = at;
  while (start > from && (std::isdigit(static_cast<unsigned char>(text[start - 1])) != 0)) --start;
  int value = 0;
  if (std::from_chars(text.data() + start, text.data() + at, value).ptr == text.data() + start) return std::nullopt;
  return value;
}

// Bytes stored and loaded are for one thread.
struct Usage {
  int registers = 0;
  int stack = 0;
  int spill_stores = 0;
  int spill_loads = 0;
};

std::map<std::string, Usage> read_usage(const std::string& log) {
  std::map<std::string, Usage> kernels;
  const std::string head = "Compiling entry function '";
  for (std::size_t at = log.find(head); at != std::string::npos;) {
    const std::size_t name = at + head.size();
    const std::size_t next = std::min(log.find(head, name), log.size());
    Usage usage;
    usage.registers = number_before(log, " registers", log.find("Used ", name) + 5, next).value_or(-1);
    usage.stack = number_before(log, " bytes stack frame", name, next).value_or(-1);
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
    for (const char* const words : {"mma.sync", "wgmma.mma_async"}) {
      for (std::size_t m = ptx.find(words, name); m < next; m = ptx.find(words, m + 1)) ++count;
    }
    at = next == ptx.size() ? std::string::npos : next;
  }
  return kernels;
}

}  // namespace

const NvidiaMachine* find_nvidia_machine(unsigned sm) {
  const auto* const found =
      std::find_if(machines.begin(), machines.end(), [sm](const NvidiaMachine& m) { return m.sm == sm; });
  return found == machines.end() ? nullptr : found;
}

device::Family family_of(const NvidiaMachine& machine) {
  return machine.sm == 90 ? device::Family::sm90 : device::Family::nvidia;
}

int resident_blocks(const NvidiaMachine& machine, const device::Tile& tile, int registers) {
  constexpr int granule = 8;  // registers of a thread are handed out in multiples of this
  const int allocated = std::max(1, (registers + granule - 1) / granule) * granule;
  const int by_registers = registers_per_sm / (allocated * tile.threads());
  const int by_shared = machine.shared_bytes_per_sm / (device::tile_lds_bytes(tile) + shared_bytes_reserved);
  return std::min({by_registers, by_shared, machine.warps_per_sm / tile.waves});
}

NvidiaMeasured measure_nvidia(const std::filesystem::path& text, const NvidiaMachine& machine,
                              const std::filesystem::path& folder, bool alternatives) {
  NvidiaMeasured measured;
  const std::filesystem::path output = folder / "kernels.cubin";
  const test::Outcome outcome = test::run("nvcc -std=c++17 -cubin -arch=sm_" + std::to_string(machine.sm) + (machine.sm == 90 ? "a" : "") +
                                          (alternatives ? " -DSAGE_ALTERNATIVES" : "") +
                                          " -x cu -Xptxas -v --keep --keep-dir '" + folder.string() + "' -o '" +
                                          output.string() + "' '" + text.string() + "'");
  if (outcome.status != 0) {
    measured.problem = "nvcc ended with status " + std::to_string(outcome.status) + ":\n" + outcome.output;
    return measured;
  }
  auto cubin = code_object::read_cubin(test::read_file(output));
  if (!cubin) {
    measured.problem = "cubin: " + cubin.error().message;
    return measured;
  }
  measured.cubin = std::move(cubin).value();
  std::string ptx;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().extension() != ".ptx") continue;
    const auto bytes = test::read_file(entry.path());
    ptx = std::string{code_object::as_text(bytes)};
  }
  const auto matrices = read_matrix_counts(ptx);
  for (const auto& [name, usage] : read_usage(outcome.output)) {
    NvidiaKernel kernel{name, nullptr, usage.registers, usage.stack, usage.spill_stores, usage.spill_loads, 0, 0};
    if (const auto counted = matrices.find(name); counted != matrices.end()) kernel.matrix = counted->second;
    if (const std::size_t index = device::tile_index(family_of(machine), name); index < device::tile_count)
      kernel.tile = &device::tile_at(index);
    if (kernel.tile != nullptr) kernel.blocks = resident_blocks(machine, *kernel.tile, kernel.registers);
    measured.kernels.push_back(kernel);
  }
  return measured;
}

}  // namespace sage::gates
