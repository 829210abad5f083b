// Data at the edges of the formats, and empty problems.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>

#include "device_under_test.hpp"

namespace sage::test {
namespace {

std::vector<device::PvType> pv_types(const Device& device) {
  if (device.has_fp8) return {device::PvType::f16, device::PvType::fp8};
  return {device::PvType::f16};
}

device::Problem problem(const int q_len, const int kv_len, const device::PvType pv) {
  device::Problem p;
  p.q_len = q_len;
  p.kv_len = kv_len;
  p.head_dim = 64;
  p.pv = pv;
  p.want_lse = true;
  return p;
}

int bad_outputs(const Result& result) {
  int bad = 0;
  for (const std::uint16_t bits : result.out) bad += std::isfinite(reference::decode(bits, result.problem.io_type)) ? 0 : 1;
  return bad;
}

}  // namespace

TEST_SUITE("edges") {
  TEST_CASE("no keys: zeros and minus infinity") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      for (const bool smooth : {true, false}) {
        device::Problem p = problem(37, 0, pv);
        p.smooth_k = smooth;
        const Result result = run_problem(device, p, Options{});
        CAPTURE(result.report.text());
        CHECK(result.report.clean());
        for (const std::uint16_t bits : result.out) CHECK(bits == 0);
        for (const float lse : result.lse) CHECK((std::isinf(lse) && lse < 0.0F));
      }
    }
  }

  TEST_CASE("rows that see no key: zeros and minus infinity") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      device::Problem p = problem(180, 50, pv);
      p.mask = SAGE_MASK_CAUSAL_BOTTOM_RIGHT;
      const Result result = run_problem(device, p, Options{});
      CHECK(result.report.clean());
      for (int q = 0; q < 130; ++q) {
        CHECK((std::isinf(result.lse[static_cast<std::size_t>(q)]) && result.lse[static_cast<std::size_t>(q)] < 0.0F));
        for (int d = 0; d < 64; ++d) CHECK(result.value(0, 0, q, d) == 0.0);
      }
      CHECK(compare(device, result, Against::quantised).not_a_number == 0);
    }
  }

  TEST_CASE("all-zero blocks") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      for (const char zero : {'q', 'k', 'v', 'a'}) {
        Options options;
        options.fill = [zero](const char tensor, int, int, const int token, int, Random& random) {
          const double x = random.normal();
          return (tensor == zero && token < 40) || zero == 'a' ? 0.0 : x;
        };
        const Result result = run_problem(device, problem(50, 100, pv), options);
        CAPTURE(zero);
        CAPTURE(result.report.text());
        CHECK(result.report.clean());
        CHECK(bad_outputs(result) == 0);
        const Errors e = compare(device, result, Against::quantised);
        CHECK(e.not_a_number == 0);
        CHECK(e.relative_l1 <= (pv == device::PvType::f16 ? 1e-3 : 2e-2));
        CHECK(e.lse <= 1e-3);
      }
    }
  }

  TEST_CASE("values at the end of f16") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      for (const char large : {'q', 'k', 'v', 'a', 'c'}) {
        Options options;
        // c: constant rows, every score equal and huge
        options.fill = [large](const char tensor, int, int, int, int, Random& random) {
          const double x = random.normal();
          if (large == 'c') return tensor == 'v' ? x : 65504.0;
          return tensor == large || large == 'a' ? (x < 0 ? -65504.0 : 65504.0) : x;
        };
        const Result result = run_problem(device, problem(40, 150, pv), options);
        CAPTURE(large);
        CAPTURE(result.report.text());
        CHECK(result.report.clean());
        CHECK(bad_outputs(result) == 0);
        for (const float lse : result.lse) CHECK(std::isfinite(lse));
        if (large == 'v' || large == 'c') {
          const Errors e = compare(device, result, Against::quantised);
          CHECK(e.relative_l1 <= (pv == device::PvType::f16 ? 1e-3 : 2e-2));
        }
      }
    }
  }

  TEST_CASE("bf16 beyond the range of f16") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      for (const double size : {1e6, 1e30, 1e-12, 3e38}) {
        for (const char large : {'v', 'k', 'q'}) {
          Options options;
          options.fill = [large, size](const char tensor, int, int, int, const int dim, Random& random) {
            const double x = std::fmax(-1.0, std::fmin(1.0, random.normal()));
            return tensor == large && dim % 2 == 0 ? x * size : x;
          };
          device::Problem p = problem(30, 150, pv);
          p.io_type = SAGE_TYPE_BF16;
          const Result result = run_problem(device, p, options);
          CAPTURE(large);
          CAPTURE(size);
          CAPTURE(result.report.text());
          CHECK(result.report.clean());
          CHECK(bad_outputs(result) == 0);
          if (large == 'v' || size < 1.0) {
            const Errors e = compare(device, result, Against::quantised);
            CHECK(e.relative_l1 <= (pv == device::PvType::f16 ? 3e-3 : 2e-2));
          }
        }
      }
    }
  }

  TEST_CASE("offsets beyond 2^31 elements") {
    // A few tokens so far apart that an offset in 32 bits would land elsewhere; with and without 16-byte alignment.
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      for (const std::int64_t stride : {(std::int64_t{1} << 31) + 64, (std::int64_t{1} << 30) + 77}) {
        device::Problem p = problem(5, 6, pv);
        p.q_heads = 2;
        p.batch = 2;
        p.head_dim = 72;
        Options options;
        options.layout = Layout::nhd;
        options.sparse_token_stride = stride;
        const Result result = run_problem(device, p, options);
        CAPTURE(result.report.text());
        CHECK(result.report.clean());
        const Errors e = compare(device, result, Against::quantised);
        CHECK(e.not_a_number == 0);
        CHECK(e.relative_l1 <= (pv == device::PvType::f16 ? 1e-3 : 2e-2));
        CHECK(e.lse <= 1e-3);
      }
    }
  }

  TEST_CASE("decoding: one query, long history") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      device::Problem p = problem(1, 1500, pv);
      p.q_heads = 4;
      p.mask = SAGE_MASK_CAUSAL_BOTTOM_RIGHT;
      const Result result = run_problem(device, p, Options{});
      CHECK(result.report.clean());
      const Errors e = compare(device, result, Against::quantised);
      std::printf("  %s decode: %s\n", device.name.c_str(), describe(e).c_str());
      CHECK(e.relative_l1 <= (pv == device::PvType::f16 ? 1e-3 : 2e-2));
    }
  }
}

}  // namespace sage::test
