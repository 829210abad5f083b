// What only a GPU can show: large grids, streams and threads side by side, graphs.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "../../../kernels/trial/abi_problem.hpp"
#include "the_gpu.hpp"

namespace sage::test {
namespace {

// Inputs, output and workspace of one problem on the GPU; values from a cheap generator, distinct by seed.
class Job {
 public:
  Job(const device::Problem& problem, const std::uint64_t seed) : problem_(problem) {
    const std::int64_t d = problem.head_dim;
    const auto elements = [&](const int heads, const int tokens) {
      return static_cast<std::size_t>(problem.batch) * static_cast<std::size_t>(heads) * static_cast<std::size_t>(tokens) *
             static_cast<std::size_t>(d);
    };
    const auto strides = [&](const int heads, const int tokens) {
      return SageStrides{std::int64_t{heads} * tokens * d, std::int64_t{tokens} * d, d, 1};
    };
    q_stride_ = strides(problem.q_heads, problem.q_len);
    kv_stride_ = strides(problem.kv_heads, problem.kv_len);
    Random random(seed);
    for (auto* const tensor : {&q, &k, &v}) {
      tensor->resize(tensor == &q ? elements(problem.q_heads, problem.q_len) : elements(problem.kv_heads, problem.kv_len));
      // Normal numbers are slow to make: a block of them, walked through with a stride that has no common factor with its length.
      std::vector<std::uint16_t> block(65521);
      for (auto& x : block) x = reference::encode(random.normal(), problem.io_type);
      std::size_t at = 0;
      for (auto& x : *tensor) x = block[at = (at + 40503) % block.size()];
    }
    asked = abi_problem(problem, 1.0 / std::sqrt(static_cast<double>(d)), q_stride_, kv_stride_, kv_stride_, q_stride_);
    const Gpu& gpu = the_gpu();
    sage_error error{};
    REQUIRE_MESSAGE(sage_attention_workspace(gpu.context(), &asked, &buffers.workspace_size, &error) == SAGE_OK, error.text);
    buffers.struct_size = sizeof buffers;
    buffers.version = SAGE_ATTENTION_VERSION;
    buffers.q = upload(q);
    buffers.k = upload(k);
    buffers.v = upload(v);
    buffers.out = gpu.allocate(q.size() * 2);
    buffers.workspace = gpu.allocate(buffers.workspace_size);
  }
  ~Job() {
    for (const void* at : {buffers.q, buffers.k, buffers.v, static_cast<const void*>(buffers.out),
                           static_cast<const void*>(buffers.workspace)}) {
      the_gpu().release(const_cast<void*>(at));
    }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void forget_output() const { the_gpu().fill(buffers.out, 0xff, q.size() * 2); }
  [[nodiscard]] sage_status launch(void* stream) const {
    sage_error error{};
    return sage_attention_launch(the_gpu().context(), &asked, &buffers, stream, &error);
  }
  [[nodiscard]] std::vector<std::uint16_t> output() const {
    std::vector<std::uint16_t> out(q.size());
    the_gpu().read(out.data(), buffers.out, out.size() * 2);
    return out;
  }
  // As run_problem gives it, for compare(); only `heads` of the batch's first entry are marked as run.
  [[nodiscard]] Result result(const int heads) const {
    Result r;
    r.problem = problem_;
    r.sm_scale = asked.sm_scale;
    r.tensors.q = q;
    r.tensors.k = k;
    r.tensors.v = v;
    r.tensors.q_stride = r.tensors.out_stride = q_stride_;
    r.tensors.k_stride = r.tensors.v_stride = kv_stride_;
    r.out = output();
    r.row_ran.assign(static_cast<std::size_t>(problem_.batch) * static_cast<std::size_t>(problem_.q_heads) *
                         static_cast<std::size_t>(problem_.q_len),
                     false);
    std::fill_n(r.row_ran.begin(), static_cast<std::size_t>(heads) * static_cast<std::size_t>(problem_.q_len), true);
    return r;
  }

  std::vector<std::uint16_t> q, k, v;
  sage_attention_problem asked{};
  sage_attention_buffers buffers{};

 private:
  static void* upload(const std::vector<std::uint16_t>& tensor) {
    void* const at = the_gpu().allocate(tensor.size() * 2);
    the_gpu().write(at, tensor.data(), tensor.size() * 2);
    return at;
  }
  device::Problem problem_;
  SageStrides q_stride_{}, kv_stride_{};
};

device::Problem large(const int tokens, const int head_dim, const device::PvType pv, const int mask) {
  device::Problem p;
  p.batch = 2;
  p.q_heads = 16;
  p.kv_heads = 4;
  p.q_len = p.kv_len = tokens;
  p.head_dim = head_dim;
  p.pv = pv;
  p.mask = mask;
  return p;
}

}  // namespace

TEST_SUITE("gpu") {
  TEST_CASE("grids that fill the GPU many times over") {
    const Device& device = device_under_test();
    for (const device::PvType pv : {device::PvType::f16, device::PvType::fp8}) {
      if (pv == device::PvType::fp8 && !device.has_fp8) continue;
      for (const int head_dim : {64, 96, 128, 256}) {
        for (const int mask : {SAGE_MASK_NONE, SAGE_MASK_CAUSAL_BOTTOM_RIGHT}) {
          const Job job(large(4096, head_dim, pv, mask), 11);
          job.forget_output();
          REQUIRE(job.launch(nullptr) == SAGE_OK);
          the_gpu().synchronise(nullptr);
          const Errors e = compare(device, job.result(2), Against::exact, 61);
          std::printf("  %s d%d %s %s: %s\n", device.name.c_str(), head_dim, pv == device::PvType::f16 ? "f16" : "fp8",
                      mask != 0 ? "causal" : "dense", describe(e).c_str());
          CHECK(e.not_a_number == 0);
          CHECK(e.relative_l1 <= (pv == device::PvType::f16 ? 0.012 : 0.042));
          CHECK(e.worst_row <= (pv == device::PvType::f16 ? 0.05 : 0.12));
        }
      }
    }
  }

  TEST_CASE("the same call gives the same bits every time") {
    const Job job(large(1500, 128, device::PvType::f16, SAGE_MASK_CAUSAL_BOTTOM_RIGHT), 5);
    REQUIRE(job.launch(nullptr) == SAGE_OK);
    the_gpu().synchronise(nullptr);
    const auto first = job.output();
    for (int i = 0; i < 20; ++i) {
      job.forget_output();
      REQUIRE(job.launch(nullptr) == SAGE_OK);
      the_gpu().synchronise(nullptr);
      REQUIRE(job.output() == first);
    }
  }

  TEST_CASE("threads with streams of their own share a context") {
    const Gpu& gpu = the_gpu();
    constexpr int threads = 8;
    std::vector<std::unique_ptr<Job>> jobs;
    std::vector<std::vector<std::uint16_t>> alone;
    for (int i = 0; i < threads; ++i) {
      jobs.push_back(std::make_unique<Job>(large(700 + 61 * i, i % 2 == 0 ? 64 : 128, device::PvType::f16, i % 3), 100 + i));
      REQUIRE(jobs.back()->launch(nullptr) == SAGE_OK);
      gpu.synchronise(nullptr);
      alone.push_back(jobs.back()->output());
      jobs.back()->forget_output();
    }
    gpu.synchronise(nullptr);
    std::vector<std::thread> workers;
    std::vector<int> failures(threads, 0);
    for (int i = 0; i < threads; ++i) {
      workers.emplace_back([&, i] {
        gpu.make_current();
        void* const stream = gpu.make_stream();
        for (int round = 0; round < 50; ++round) {
          if (jobs[static_cast<std::size_t>(i)]->launch(stream) != SAGE_OK) ++failures[static_cast<std::size_t>(i)];
        }
        gpu.synchronise(stream);
        gpu.destroy_stream(stream);
      });
    }
    for (std::thread& worker : workers) worker.join();
    for (std::size_t i = 0; i < threads; ++i) {
      CHECK(failures[i] == 0);
      CHECK(jobs[i]->output() == alone[i]);
    }
  }

  TEST_CASE("a launch can be captured into a graph and replayed") {
    const Gpu& gpu = the_gpu();
    const Job job(large(1000, 64, device::PvType::f16, SAGE_MASK_NONE), 9);
    REQUIRE(job.launch(nullptr) == SAGE_OK);
    gpu.synchronise(nullptr);
    const auto expected = job.output();
    job.forget_output();
    gpu.synchronise(nullptr);
    void* const stream = gpu.make_stream();
    sage_status status = SAGE_E_INTERNAL;
    gpu.replay(stream, [&] { status = job.launch(stream); }, 3);
    gpu.destroy_stream(stream);
    CHECK(status == SAGE_OK);
    CHECK(job.output() == expected);
  }
}

}  // namespace sage::test
