// Error against double precision and against the quantised algorithm in plain loops, on normal and on difficult data.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>

#include "device_under_test.hpp"

namespace sage::test {
namespace {

struct Gate {
  double exact_l1, exact_worst, exact_lse, quantised_l1, quantised_lse;
};
constexpr Gate f16_gate{0.012, 0.05, 2e-2, 1e-3, 1e-3};
constexpr Gate fp8_gate{0.042, 0.12, 2e-2, 2e-2, 1e-3};

std::vector<device::PvType> pv_types(const Device& device) {
  if (device.has_fp8) return {device::PvType::f16, device::PvType::fp8};
  return {device::PvType::f16};
}

const char* pv_name(const device::PvType pv) { return pv == device::PvType::f16 ? "f16" : "fp8"; }

// First, middle and last query tile of the only head: causal rows of every length, at an eighth of the cost of all of them.
std::vector<int> sample_tiles(const Device& device, const device::Problem& p, const device::Length length) {
  const device::Tile* const tile = device::find_tile(device.family, device::padded_head_dim(p.head_dim), p.pv, length);
  REQUIRE(tile != nullptr);
  const int tiles = static_cast<int>(device::ceil_div(p.q_len, tile->queries()));
  return {0, tiles / 2, tiles - 1};
}

Errors check_against_quantised(const Device& device, const Result& result, const Gate& gate, const int every) {
  const Errors e = compare(device, result, Against::quantised, every);
  std::printf("    quantised  %s\n", describe(e).c_str());
  CHECK(e.not_a_number == 0);
  CHECK(e.relative_l1 <= gate.quantised_l1);
  CHECK(e.lse <= gate.quantised_lse);
  return e;
}

}  // namespace

TEST_SUITE("accuracy") {
  TEST_CASE("normal inputs, 2048 tokens") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      const Gate& gate = pv == device::PvType::f16 ? f16_gate : fp8_gate;
      for (const int head_dim : {64, 128}) {
        for (const int mask : {SAGE_MASK_NONE, SAGE_MASK_CAUSAL_BOTTOM_RIGHT}) {
          for (const int io_type : {SAGE_TYPE_F16, SAGE_TYPE_BF16}) {
            if (io_type == SAGE_TYPE_BF16 && (head_dim != 128 || mask == SAGE_MASK_NONE)) continue;
            device::Problem p;
            p.q_len = p.kv_len = 2048;
            p.head_dim = head_dim;
            p.mask = mask;
            p.io_type = io_type;
            p.pv = pv;
            p.want_lse = true;
            Options options;
            options.workgroups = sample_tiles(device, p, device::Length::long_q);
            const Result result = run_problem(device, p, options);
            std::printf("  %s d%d %s %s %s\n", device.name.c_str(), head_dim, pv_name(pv), mask != 0 ? "causal" : "dense",
                        io_type == SAGE_TYPE_F16 ? "f16" : "bf16");
            CAPTURE(result.report.text());
            CHECK(result.report.clean());
            const Errors exact = compare(device, result, Against::exact, 5);
            std::printf("    exact      %s\n", describe(exact).c_str());
            CHECK(exact.not_a_number == 0);
            CHECK(exact.relative_l1 <= gate.exact_l1);
            CHECK(exact.worst_row <= gate.exact_worst);
            CHECK(exact.lse <= gate.exact_lse);
            Gate own = gate;
            // bf16 output alone rounds by 2^-9: mean relative error 1.4e-3 (f16: 1.8e-4).
            if (io_type == SAGE_TYPE_BF16) own.quantised_l1 += 2e-3;
            check_against_quantised(device, result, own, 5);
          }
        }
      }
    }
  }

  TEST_CASE("every tile of the table computes the same algorithm") {
    const Device& device = device_under_test();
    for (std::size_t i = 0; i < device::tile_count; ++i) {
      const device::Tile& tile = device::tile_at(i);
      // On a GPU the library chooses.
      if (tile.alternative && device.gpu != nullptr) continue;
      if (tile.family != device.family || (tile.pv == device::PvType::fp8 && !device.has_fp8)) continue;
      device::Problem p;
      p.q_len = 150;
      p.kv_len = 333;
      p.q_heads = 2;
      p.head_dim = tile.dp == 64 ? 40 : tile.dp - 8;
      p.mask = SAGE_MASK_CAUSAL_BOTTOM_RIGHT;
      p.pv = tile.pv;
      p.want_lse = true;
      Options options;
      options.tile = &tile;
      options.length = static_cast<int>(tile.length);
      const Result result = run_problem(device, p, options);
      CAPTURE(tile.kernel);
      CAPTURE(result.report.text());
      CHECK(result.report.clean());
      std::printf("  %s %s\n", device.name.c_str(), tile.kernel);
      check_against_quantised(device, result, p.pv == device::PvType::f16 ? f16_gate : fp8_gate, 3);
    }
  }

  TEST_CASE("outliers in K") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      device::Problem p;
      p.q_len = 128;
      p.kv_len = 1024;
      p.head_dim = 128;
      p.pv = pv;
      p.want_lse = true;
      Options options;
      const double normal = compare(device, run_problem(device, p, options), Against::exact).relative_l1;
      // Channel means of up to 50 sigma: smoothing must take them out.
      options.fill = [](const char tensor, int, int, int, const int dim, Random& random) {
        const double mean = tensor == 'k' ? 50.0 * std::cos(7.0 * dim) : 0.0;
        return random.normal() + mean;
      };
      const Result shifted = run_problem(device, p, options);
      CHECK(shifted.report.clean());
      const Errors e = compare(device, shifted, Against::exact);
      std::printf("  %s %s K means up to 50 sigma: %s (normal data %.3e)\n", device.name.c_str(), pv_name(pv), describe(e).c_str(), normal);
      CHECK(e.not_a_number == 0);
      CHECK(e.relative_l1 <= 1.2 * normal);
      // One channel 50 times larger: int8 with one scale per token cannot do well; reported, not gated.
      options.fill = [](const char tensor, int, int, int, const int dim, Random& random) {
        return random.normal() * (tensor == 'k' && dim == 3 ? 50.0 : 1.0);
      };
      const Result scaled = run_problem(device, p, options);
      CHECK(scaled.report.clean());
      std::printf("  %s %s a K channel times 50: %s\n", device.name.c_str(), pv_name(pv),
                  describe(compare(device, scaled, Against::exact)).c_str());
    }
  }
}

}  // namespace sage::test
