// From the C functions to the result: the stand-in driver runs what it is told to launch on the lane emulator. This is
// where a stride, a pointer or a size that the host hands over wrongly becomes a wrong number or an access out of
// bounds.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "../emulated/device_under_test.hpp"
#include "runtime_fixture.hpp"

using namespace sage::test;
namespace device = sage::device;
namespace reference = sage::reference;

namespace {

using sage_emulator::GlobalMemory;

// What the callback of the stand-in, a plain C function, works on.
struct Machine {
  GlobalMemory* memory = nullptr;
  sage_emulator::Report* report = nullptr;
  int launches = 0;
};

Machine& machine() {
  static Machine the_machine;
  return the_machine;
}

void run_launch(const fake_launch* launch) {
  SageArgs args;
  std::memcpy(&args, launch->arguments, sizeof args);
  const Device& emulated = device_under_test();
  const Kernel kernel = emulated.find(launch->kernel);
  sage_emulator::Launch l;
  l.grid = static_cast<int>(launch->grid[0]);
  l.threads = static_cast<int>(launch->block[0]);
  l.wave_size = 32;
  l.shared_limit = emulated.shared_limit;
  sage_emulator::run(
      l, [kernel, &args] { kernel(args, SageTensorMap{}); }, *machine().memory, *machine().report);
  ++machine().launches;
}

constexpr std::size_t guard = 4096;

// Memory between guards that the kernels may not touch, at the alignment that the ABI asks for.
class Region {
 public:
  Region(GlobalMemory& memory, const char* name, std::size_t bytes, std::size_t alignment, bool is_input)
      : storage_(bytes + 2 * guard, 0xff), bytes_{bytes} {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data()) + guard / 2;
    data_ = storage_.data() + guard / 2 + (alignment - address % alignment) % alignment;
    if (bytes == 0) return;
    memory.add(name, data_, bytes, GlobalMemory::Access::read_write, false);
    if (is_input) memory.mark_written(data_, bytes);
  }
  [[nodiscard]] void* data() { return data_; }
  template <class T>
  [[nodiscard]] T* as() {
    return reinterpret_cast<T*>(data_);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::vector<unsigned char> storage_;
  unsigned char* data_ = nullptr;
  std::size_t bytes_;
};

struct Outcome {
  double relative_l1 = 0;
  double worst_row = 0;
  double lse = 0;
};

SageStrides to_device(const sage_strides& s) {
  return {s.batch, s.head, s.token, s.dim};
}

std::size_t extent(const sage_strides& s, std::int64_t batch, std::int64_t heads, std::int64_t tokens,
                   std::int64_t dim) {
  if (tokens == 0) return 0;
  return static_cast<std::size_t>((batch - 1) * s.batch + (heads - 1) * s.head + (tokens - 1) * s.token +
                                  (dim - 1) * s.dim + 1);
}

Outcome run(const sage_attention_problem& p) {
  FakeDriver driver{FAKE_HIP6};
  driver.state->on_launch = run_launch;
  ContextHolder holder;
  sage_error error{};
  REQUIRE_MESSAGE(make_context({build_object(gfx1201_spec()).file}, holder, &error) == SAGE_OK, error.text);

  GlobalMemory memory;
  sage_emulator::Report report;
  machine() = {&memory, &report, 0};
  Random random(7);
  const auto fill = [&](Region& region) {
    for (std::size_t i = 0; i < region.bytes() / 2; ++i)
      region.as<std::uint16_t>()[i] = reference::encode(random.normal(), static_cast<int>(p.io_type));
  };
  Region q(memory, "q", 2 * extent(p.q, p.batch, p.q_heads, p.q_len, p.head_dim), 2, true);
  Region k(memory, "k", 2 * extent(p.k, p.batch, p.kv_heads, p.kv_len, p.head_dim), 2, true);
  Region v(memory, "v", 2 * extent(p.v, p.batch, p.kv_heads, p.kv_len, p.head_dim), 2, true);
  fill(q);
  fill(k);
  fill(v);
  Region out(memory, "out", 2 * extent(p.out, p.batch, p.q_heads, p.q_len, p.head_dim), 2, false);
  const std::size_t rows =
      static_cast<std::size_t>(p.batch) * static_cast<std::size_t>(p.q_heads) * static_cast<std::size_t>(p.q_len);
  const bool want_lse = (p.flags & SAGE_FLAG_LSE) != 0;
  Region lse(memory, "lse", want_lse ? 4 * rows : 0, 4, false);
  std::uint64_t bytes = 0;
  REQUIRE_MESSAGE(sage_attention_workspace(holder.context, &p, &bytes, &error) == SAGE_OK, error.text);
  Region workspace(memory, "workspace", static_cast<std::size_t>(bytes), 256, false);

  sage_attention_buffers buffers{};
  buffers.struct_size = sizeof buffers;
  buffers.version = SAGE_ATTENTION_VERSION;
  buffers.q = q.data();
  buffers.k = k.data();
  buffers.v = v.data();
  buffers.out = out.data();
  buffers.lse = want_lse ? lse.as<float>() : nullptr;
  buffers.workspace = workspace.data();
  buffers.workspace_size = bytes;
  REQUIRE_MESSAGE(sage_attention_launch(holder.context, &p, &buffers, nullptr, &error) == SAGE_OK, error.text);
  CHECK(machine().launches == driver.state->launches);
  CHECK_MESSAGE(report.clean(), report.text());

  reference::Inputs in;
  in.problem.batch = p.batch;
  in.problem.q_heads = p.q_heads;
  in.problem.kv_heads = p.kv_heads;
  in.problem.q_len = p.q_len;
  in.problem.kv_len = p.kv_len;
  in.problem.head_dim = p.head_dim;
  in.problem.mask = static_cast<int>(p.mask);
  in.problem.io_type = static_cast<int>(p.io_type);
  in.sm_scale = static_cast<double>(p.sm_scale);
  in.q = {q.as<std::uint16_t>(), to_device(p.q), in.problem.io_type};
  in.k = {k.as<std::uint16_t>(), to_device(p.k), in.problem.io_type};
  in.v = {v.as<std::uint16_t>(), to_device(p.v), in.problem.io_type};
  const reference::Tensor result{out.as<std::uint16_t>(), to_device(p.out), in.problem.io_type};
  Outcome outcome;
  double difference = 0;
  double magnitude = 0;
  for (int b = 0; b < p.batch; ++b) {
    for (int h = 0; h < p.q_heads; ++h) {
      for (int i = 0; i < p.q_len; ++i) {
        const reference::Row exact = reference::exact_row(in, b, h, i);
        double row_difference = 0;
        double row_magnitude = 0;
        for (int d = 0; d < p.head_dim; ++d) {
          const double value = result.at(b, h, i, d);
          REQUIRE(std::isfinite(value));
          row_difference += std::fabs(value - exact.out[static_cast<std::size_t>(d)]);
          row_magnitude += std::fabs(exact.out[static_cast<std::size_t>(d)]);
        }
        difference += row_difference;
        magnitude += row_magnitude;
        outcome.worst_row =
            std::max(outcome.worst_row, row_magnitude == 0 ? row_difference : row_difference / row_magnitude);
        if (!want_lse) continue;
        const double value =
            static_cast<double>(lse.as<float>()[(static_cast<std::size_t>(b) * static_cast<std::size_t>(p.q_heads) +
                                                 static_cast<std::size_t>(h)) *
                                                    static_cast<std::size_t>(p.q_len) +
                                                static_cast<std::size_t>(i)]);
        if (std::isinf(exact.lse)) {
          CHECK(value == -std::numeric_limits<double>::infinity());
        } else {
          outcome.lse = std::max(outcome.lse, std::fabs(value - exact.lse));
        }
      }
    }
  }
  outcome.relative_l1 = magnitude == 0 ? difference : difference / magnitude;
  return outcome;
}

sage_attention_problem problem(int batch, int q_heads, int kv_heads, int q_len, int kv_len, int head_dim) {
  sage_attention_problem p = sample_problem();
  p.batch = batch;
  p.q_heads = q_heads;
  p.kv_heads = kv_heads;
  p.q_len = q_len;
  p.kv_len = kv_len;
  p.head_dim = head_dim;
  p.sm_scale = 1.0F / std::sqrt(static_cast<float>(head_dim));
  p.q = p.out = contiguous(q_heads, q_len, head_dim);
  p.k = p.v = contiguous(kv_heads, kv_len, head_dim);
  p.flags = SAGE_FLAG_SMOOTH_K | SAGE_FLAG_LSE;
  return p;
}

void check(const sage_attention_problem& p) {
  const Outcome outcome = run(p);
  const bool fp8 = p.pv_type == SAGE_PV_TYPE_FP8;
  CHECK(outcome.relative_l1 <= (fp8 ? 0.042 : 0.012));
  CHECK(outcome.worst_row <= (fp8 ? 0.12 : 0.05));
  CHECK(outcome.lse <= 2e-2);
}

}  // namespace

TEST_CASE("grouped heads, odd lengths, causal") {
  sage_attention_problem p = problem(2, 4, 2, 33, 77, 64);
  p.mask = SAGE_ATTENTION_MASK_CAUSAL_BOTTOM_RIGHT;
  check(p);
}

TEST_CASE("NHD layout with room between tokens, bf16, fp8") {
  sage_attention_problem p = problem(1, 2, 1, 40, 130, 128);
  p.io_type = SAGE_IO_BF16;
  p.pv_type = SAGE_PV_TYPE_FP8;
  p.q = {40 * 2 * 128 + 8, 128, 2 * 128 + 3, 1};
  p.out = {40 * 2 * 128 + 64, 128, 2 * 128, 1};
  p.k = {130 * 136, 136, 136, 1};
  p.v = {0, 0, 128, 1};
  check(p);
}

TEST_CASE("a head dim that is padded, the output's dims outermost") {
  sage_attention_problem p = problem(1, 2, 2, 20, 50, 72);
  p.out = {0, 20, 1, 40};
  p.mask = SAGE_ATTENTION_MASK_CAUSAL_TOP_LEFT;
  check(p);
}

TEST_CASE("without keys: zeros, and minus infinity") {
  sage_attention_problem p = problem(1, 2, 1, 5, 0, 64);
  const Outcome outcome = run(p);
  CHECK(outcome.relative_l1 == 0.0);
  CHECK(outcome.worst_row == 0.0);
}
