// Lengths, tails, masks, layouts, heads. Small problems, each compared row by row with the quantised reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "device_under_test.hpp"

namespace sage::test {
namespace {

struct Worst {
  double relative_l1 = 0.0;
  double worst_row = 0.0;
  double lse = 0.0;
  int cases = 0;
  void add(const Errors& e) {
    relative_l1 = std::max(relative_l1, e.relative_l1);
    worst_row = std::max(worst_row, e.worst_row);
    lse = std::max(lse, e.lse);
    ++cases;
  }
  void print(const Device& device, const char* what) const {
    std::printf("  %s %s: %d cases, worst rel L1 %.3e, row %.3e, LSE %.3e\n", device.name.c_str(), what, cases, relative_l1, worst_row, lse);
  }
};

// A wrong tail moves a row by tens of percent; rounding of P by less than one.
void check_case(const Device& device, const device::Problem& p, const Options& options, Worst& worst, const int every = 1) {
  const Result result = run_problem(device, p, options);
  CAPTURE(p.q_len);
  CAPTURE(p.kv_len);
  CAPTURE(p.head_dim);
  CAPTURE(p.mask);
  CAPTURE(result.report.text());
  CHECK(result.report.clean());
  const Errors e = compare(device, result, Against::quantised, every);
  const bool f16 = p.pv == device::PvType::f16;
  const double output_rounding = p.io_type == SAGE_TYPE_BF16 ? 2e-3 : 0.0;
  const double tie = device.tie_share / std::max(1, p.kv_len);
  CHECK(e.not_a_number == 0);
  CHECK(e.relative_l1 <= (f16 ? 1e-3 : 2e-2) + output_rounding + tie);
  // A row of few channels can be all but zero: its relative error then says nothing.
  if (p.head_dim >= 8) CHECK(e.worst_row <= (f16 ? 5e-3 : 6e-2) + output_rounding);
  CHECK(e.lse <= 1e-3 + tie);
  worst.add(e);
}

device::Problem small(const int q_len, const int kv_len, const int head_dim, const device::PvType pv) {
  device::Problem p;
  p.q_len = q_len;
  p.kv_len = kv_len;
  p.head_dim = head_dim;
  p.pv = pv;
  p.want_lse = true;
  return p;
}

std::vector<device::PvType> pv_types(const Device& device) {
  if (device.has_fp8) return {device::PvType::f16, device::PvType::fp8};
  return {device::PvType::f16};
}

}  // namespace

TEST_SUITE("lengths") {
  TEST_CASE("every kv length from 1 to 130, and two primes above 1000") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      Worst worst;
      for (int kv_len = 1; kv_len <= 130; ++kv_len) {
        Options options;
        options.seed = static_cast<std::uint64_t>(kv_len);
        device::Problem p = small(kv_len % 19 + 1, kv_len, 64, pv);
        p.smooth_k = kv_len % 3 != 0;
        check_case(device, p, options, worst);
      }
      for (const int kv_len : {1009, 1999}) check_case(device, small(33, kv_len, 128, pv), Options{}, worst);
      worst.print(device, pv == device::PvType::f16 ? "kv lengths, f16" : "kv lengths, fp8");
    }
  }

  TEST_CASE("a phantom key in the tail is seen") {
    // Keys that a kernel forgets to mask have score 0 and value 0: cosine stays near 1, relative L1 does not. The case is here to show that
    // the gates above have that power: the reference with a denominator that counts the padding must fail them.
    const Device& device = device_under_test();
    device::Problem p = small(64, 77, 64, device::PvType::f16);
    Result result = run_problem(device, p, Options{});
    CHECK(result.report.clean());
    const Errors good = compare(device, result, Against::exact);
    for (int q = 0; q < p.q_len; ++q) {
      const double lse = result.lse[static_cast<std::size_t>(q)];
      const double phantom = std::exp(lse) / (std::exp(lse) + 51.0);
      for (int d = 0; d < p.head_dim; ++d) {
        const auto at = static_cast<std::size_t>(q * p.head_dim + d);
        result.out[at] = reference::encode(result.value(0, 0, q, d) * phantom, p.io_type);
      }
    }
    const Errors bad = compare(device, result, Against::exact);
    std::printf("  phantom keys at kv 77: rel L1 %.3f cosine %.4f (kernel: %.4f)\n", bad.relative_l1, bad.cosine, good.relative_l1);
    CHECK(good.relative_l1 <= 0.02);
    CHECK(bad.relative_l1 > 0.1);
    CHECK(bad.cosine > 0.99);
  }

  TEST_CASE("query lengths and both causal alignments") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      Worst worst;
      const int lengths[][2] = {{1, 1}, {1, 200}, {7, 130}, {65, 64}, {129, 257}, {200, 70}, {150, 33}, {257, 129}};
      for (const auto& length : lengths) {
        for (const int mask : {SAGE_MASK_NONE, SAGE_MASK_CAUSAL_BOTTOM_RIGHT, SAGE_MASK_CAUSAL_TOP_LEFT}) {
          device::Problem p = small(length[0], length[1], 64, pv);
          p.mask = mask;
          check_case(device, p, Options{}, worst);
        }
      }
      worst.print(device, "causal alignments");
    }
  }

  TEST_CASE("head dims") {
    const Device& device = device_under_test();
    Worst worst;
    for (const int head_dim : {1, 8, 40, 63, 64, 65, 72, 80, 96, 97, 120, 127, 128, 129, 160, 200, 255, 256}) {
      const device::PvType pv = device.has_fp8 && head_dim % 3 == 0 ? device::PvType::fp8 : device::PvType::f16;
      check_case(device, small(20, 75, head_dim, pv), Options{}, worst);
    }
    worst.print(device, "head dims");
  }

  TEST_CASE("heads, batches, layouts, types") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      Worst worst;
      for (const Layout layout : {Layout::hnd, Layout::nhd, Layout::padded, Layout::transposed}) {
        for (const int io_type : {SAGE_TYPE_F16, SAGE_TYPE_BF16}) {
          device::Problem p = small(19, 90, layout == Layout::padded ? 61 : 64, pv);
          p.batch = 2;
          p.q_heads = layout == Layout::nhd ? 6 : 4;
          p.kv_heads = layout == Layout::hnd ? 1 : 2;
          p.io_type = io_type;
          Options options;
          options.layout = layout;
          check_case(device, p, options, worst);
        }
      }
      worst.print(device, "heads and layouts");
    }
  }

  TEST_CASE("softmax scale: large, small, negative, zero") {
    const Device& device = device_under_test();
    Worst worst;
    for (const double scale : {1.0, 1e-4, -0.125, 1e-30}) {
      Options options;
      options.sm_scale = scale;
      check_case(device, small(16, 100, 64, device::PvType::f16), options, worst);
    }
    worst.print(device, "softmax scales");
  }

  TEST_CASE("waves in reverse order give the same bits") {
    const Device& device = device_under_test();
    for (const device::PvType pv : pv_types(device)) {
      for (const int head_dim : {64, 96, 128, 256}) {
        device::Problem p = small(140, 200, head_dim, pv);
        p.mask = SAGE_MASK_CAUSAL_TOP_LEFT;
        Options options;
        const Result forward = run_problem(device, p, options);
        options.order = sage_emulator::WaveOrder::reverse;
        const Result reverse = run_problem(device, p, options);
        CHECK(forward.report.clean());
        CHECK(reverse.report.clean());
        CHECK(forward.out == reverse.out);
        CHECK(forward.lse == reverse.lse);
      }
    }
  }
}

}  // namespace sage::test
