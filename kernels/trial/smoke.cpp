#include "smoke.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "gpu.hpp"

namespace sage::trial {
namespace {

constexpr SmokeGate f16_gate{0.012, 0.05, 2e-2};
constexpr SmokeGate fp8_gate{0.042, 0.12, 2e-2};

// Long enough that a kernel goes round its loop, short enough for emulated lanes: about a second a problem.
constexpr int emulated_keys = 517;
// On a GPU the library chooses the tile by the number of queries (device::tile_length); neither is a multiple of a tile.
constexpr int long_queries = 2061;
constexpr int short_queries(const device::Family family, const int dp) { return std::min(687, device::fewest_long_queries(family, dp) - 109); }
static_assert(device::tile_length(short_queries(device::Family::sm90, 64), device::Family::sm90, 64) == device::Length::short_q);
static_assert(device::tile_length(long_queries, device::Family::gfx12, 64) == device::Length::long_q);
// Keys that the first query of the causal problem sees on a GPU. The log-sum-exp of a query with one key is one score, off by
// the rounding of one product: 0.01 on average and several times that somewhere, which says nothing about a kernel.
constexpr int keys_before = 456;
constexpr int rows_compared = 100;

std::vector<device::Problem> problems_for(const Device& device, const device::Tile& tile) {
  device::Problem dense;
  dense.pv = tile.pv;
  dense.want_lse = true;
  dense.head_dim = tile.dp;
  if (device.gpu == nullptr) {
    dense.q_len = tile.queries();
    dense.kv_len = emulated_keys;
  } else {
    dense.q_heads = 4;
    dense.kv_heads = 2;
    dense.q_len = tile.length == device::Length::long_q ? long_queries : short_queries(tile.family, tile.dp);
    dense.kv_len = dense.q_len + keys_before;
  }
  device::Problem causal = dense;
  causal.mask = SAGE_MASK_CAUSAL_BOTTOM_RIGHT;
  causal.head_dim = tile.dp == 64 ? 40 : tile.dp - 8;
  causal.io_type = SAGE_TYPE_BF16;
  return {dense, causal};
}

std::string in_words(const device::Problem& p) {
  return std::string(p.mask == SAGE_MASK_NONE ? "dense" : "causal") + ", " + std::to_string(p.q_len) + " queries, " +
         std::to_string(p.kv_len) + " keys, head dim " + std::to_string(p.head_dim) + ", " +
         (p.io_type == SAGE_TYPE_F16 ? "f16" : "bf16");
}

// The first tile of queries that has a row beyond the gate.
std::string first_wrong_tile(const Device& device, const Result& result, const SmokeGate& gate) {
  const device::Problem& p = result.problem;
  const int queries = result.tile.queries();
  for (int head = 0; head < p.q_heads; ++head) {
    for (int first = 0; first < p.q_len; first += queries) {
      Result part = result;
      part.row_ran.assign(result.row_ran.size(), false);
      const int last = std::min(first + queries, p.q_len) - 1;
      for (int row = first; row <= last; ++row) {
        const std::size_t at = static_cast<std::size_t>(head) * static_cast<std::size_t>(p.q_len) +
                               static_cast<std::size_t>(row);
        part.row_ran[at] = result.row_ran[at];
      }
      const Errors e = compare(device, part, Against::exact);
      if (e.not_a_number == 0 && e.worst_row <= gate.worst_row && e.lse <= gate.lse) continue;
      return "queries " + std::to_string(first) + " to " + std::to_string(last) + " of head " + std::to_string(head);
    }
  }
  return "";
}

SmokeResult try_one(const Device& device, const device::Tile& tile, const device::Problem& problem) {
  Options options;
  options.length = static_cast<int>(tile.length);
  const Result result = run_problem(device, problem, options);
  const SmokeGate gate = smoke_gate(tile.pv);
  SmokeResult smoke;
  smoke.kernel = device.gpu == nullptr ? tile.kernel : device.gpu->kernel_for(problem);
  smoke.problem = in_words(problem);
  smoke.gate = gate;
  const int rows = problem.q_heads * problem.q_len;
  smoke.errors = compare(device, result, Against::exact, std::max(1, rows / rows_compared));
  if (!result.report.clean()) smoke.complaint = result.report.text();
  smoke.passed = smoke.complaint.empty() && smoke.errors.not_a_number == 0 &&
                 smoke.errors.relative_l1 <= gate.relative_l1 && smoke.errors.worst_row <= gate.worst_row &&
                 smoke.errors.lse <= gate.lse;
  if (!smoke.passed) smoke.first_wrong = first_wrong_tile(device, result, gate);
  return smoke;
}

}  // namespace

SmokeGate smoke_gate(const device::PvType pv) {
  return pv == device::PvType::f16 ? f16_gate : fp8_gate;
}

std::vector<const device::Tile*> tiles_to_try(const Device& device) {
  std::vector<const device::Tile*> tiles;
  for (const device::Tile& tile : device::tile_table) {
    if (tile.family != device.family) continue;
    const bool there = device.gpu != nullptr
                           ? device.gpu->has_kernel(tile)
                           : std::any_of(device.kernels.begin(), device.kernels.end(),
                                         [&](const auto& kernel) { return kernel.first == tile.kernel; });
    if (there) tiles.push_back(&tile);
  }
  return tiles;
}

std::vector<SmokeResult> smoke_test(const Device& device, const device::Tile& tile) {
  std::vector<SmokeResult> results;
  for (const device::Problem& problem : problems_for(device, tile)) results.push_back(try_one(device, tile, problem));
  return results;
}

}  // namespace sage::trial
