// One problem through the C ABI on the GPU at hand, for the test cases that the emulated lanes run too. The tile is the
// one that the library chooses by the length of Q: a length class that a case asks for is not forced here.
#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "abi_problem.hpp"
#include "gpu.hpp"

namespace sage::trial {
namespace {

constexpr std::size_t fence_bytes = 4096;
constexpr unsigned char fence_byte = 0xa5;
constexpr unsigned char poison = 0xff;

// Memory on the GPU between two fences that no kernel may write.
class Fenced {
 public:
  Fenced(const Gpu& gpu, std::string name, const std::size_t bytes) : gpu_(gpu), name_(std::move(name)), bytes_(bytes) {
    base_ = static_cast<unsigned char*>(gpu.allocate(bytes + 2 * fence_bytes));
    gpu.fill(base_, fence_byte, fence_bytes);
    gpu.fill(base_ + fence_bytes + bytes, fence_byte, fence_bytes);
  }
  ~Fenced() { gpu_.release(base_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  [[nodiscard]] unsigned char* data() const { return base_ + fence_bytes; }
  void poison_all() const { gpu_.fill(data(), poison, bytes_); }
  void check(sage_emulator::Report& report) const {
    std::array<unsigned char, fence_bytes> fence{};
    for (unsigned char* const at : {base_, base_ + fence_bytes + bytes_}) {
      gpu_.read(fence.data(), at, fence_bytes);
      if (std::any_of(fence.begin(), fence.end(), [](const unsigned char b) { return b != fence_byte; })) {
        report.add("written outside of " + name_);
      }
    }
  }

 private:
  const Gpu& gpu_;
  std::string name_;
  std::size_t bytes_;
  unsigned char* base_ = nullptr;
};

// A tensor on the GPU: as the host has it, or its rows scattered so far apart that offsets need 64 bits.
class GpuTensor {
 public:
  GpuTensor(const Gpu& gpu, const std::string& name, const std::vector<std::uint16_t>& dense, const SageStrides& dense_stride,
            const std::array<int, 4>& extents, const std::int64_t sparse_token_stride, const bool is_input)
      : gpu_(gpu), dense_stride_(dense_stride), extents_(extents), sparse_(sparse_token_stride != 0) {
    const auto [batch, heads, tokens, dim] = extents;
    stride_ = sparse_ ? SageStrides{std::int64_t{heads} * dim, dim, sparse_token_stride, 1} : dense_stride;
    const std::size_t elements =
        sparse_ ? static_cast<std::size_t>((tokens - 1) * sparse_token_stride + std::int64_t{batch} * heads * dim) : dense.size();
    memory_ = std::make_unique<Fenced>(gpu, name, elements * 2);
    if (is_input && !sparse_) {
      gpu.write(memory_->data(), dense.data(), dense.size() * 2);
    } else if (is_input) {
      each_row([&](unsigned char* row, const std::size_t from) { gpu.write(row, dense.data() + from, row_bytes()); });
    } else if (!sparse_) {
      memory_->poison_all();
    }
  }
  [[nodiscard]] void* data() const { return memory_->data(); }
  [[nodiscard]] const SageStrides& stride() const { return stride_; }
  [[nodiscard]] const Fenced& memory() const { return *memory_; }
  void gather(std::vector<std::uint16_t>& dense, const std::size_t elements) const {
    dense.assign(elements, 0);
    if (!sparse_) return gpu_.read(dense.data(), memory_->data(), elements * 2);
    each_row([&](const unsigned char* row, const std::size_t to) { gpu_.read(dense.data() + to, row, row_bytes()); });
  }

 private:
  [[nodiscard]] std::size_t row_bytes() const { return static_cast<std::size_t>(extents_[3]) * 2; }
  template <class F>
  void each_row(F f) const {
    const auto [batch, heads, tokens, dim] = extents_;
    for (int b = 0; b < batch; ++b) {
      for (int h = 0; h < heads; ++h) {
        for (int t = 0; t < tokens; ++t) {
          f(memory_->data() + (b * stride_.batch + h * stride_.head + t * stride_.token) * 2,
            static_cast<std::size_t>(b * dense_stride_.batch + h * dense_stride_.head + t * dense_stride_.token));
        }
      }
    }
  }
  const Gpu& gpu_;
  std::unique_ptr<Fenced> memory_;
  SageStrides stride_{};
  SageStrides dense_stride_;
  std::array<int, 4> extents_;
  bool sparse_;
};

}  // namespace

Result run_on_gpu(const Device& device, const device::Problem& problem, const Options& options) {
  Options automatic = options;
  automatic.length = -1;
  automatic.tile = nullptr;
  Result result = prepare(device, problem, automatic);
  const Tensors& t = result.tensors;
  const Gpu& gpu = *device.gpu;
  const std::array<int, 4> q_extents{problem.batch, problem.q_heads, problem.q_len, problem.head_dim};
  const std::array<int, 4> kv_extents{problem.batch, problem.kv_heads, problem.kv_len, problem.head_dim};
  const std::int64_t sparse = options.sparse_token_stride;
  const GpuTensor q(gpu, "q", t.q, t.q_stride, q_extents, sparse, true);
  const GpuTensor k(gpu, "k", t.k, t.k_stride, kv_extents, sparse, true);
  const GpuTensor v(gpu, "v", t.v, t.v_stride, kv_extents, sparse, true);
  const GpuTensor out(gpu, "out", t.q, t.out_stride, q_extents, sparse, false);
  const std::size_t q_rows = static_cast<std::size_t>(problem.batch) * static_cast<std::size_t>(problem.q_heads) *
                             static_cast<std::size_t>(problem.q_len);
  const Fenced lse(gpu, "lse", problem.want_lse ? q_rows * 4 : 4);
  lse.poison_all();

  const sage_attention_problem asked =
      abi_problem(problem, result.sm_scale, q.stride(), k.stride(), v.stride(), out.stride());
  sage_error error{};
  std::uint64_t workspace_bytes = 0;
  if (gpu.library().workspace(gpu.context(), &asked, &workspace_bytes, &error) != SAGE_OK) throw std::runtime_error(error.text);
  const Fenced workspace(gpu, "workspace", std::max<std::size_t>(workspace_bytes, 256));
  workspace.poison_all();
  sage_attention_buffers buffers{};
  buffers.struct_size = sizeof buffers;
  buffers.version = SAGE_ATTENTION_VERSION;
  buffers.q = q.data();
  buffers.k = k.data();
  buffers.v = v.data();
  buffers.out = out.data();
  buffers.lse = problem.want_lse ? reinterpret_cast<float*>(lse.data()) : nullptr;
  buffers.workspace = workspace.data();
  buffers.workspace_size = workspace_bytes;

  void* const stream = gpu.make_stream();
  gpu.synchronise(nullptr);
  if (gpu.library().launch(gpu.context(), &asked, &buffers, stream, &error) != SAGE_OK) throw std::runtime_error(error.text);
  gpu.synchronise(stream);
  gpu.destroy_stream(stream);

  out.gather(result.out, t.out_elements);
  if (problem.want_lse) {
    result.lse.resize(q_rows);
    gpu.read(result.lse.data(), lse.data(), q_rows * 4);
  }
  for (const GpuTensor* tensor : {&q, &k, &v, &out}) tensor->memory().check(result.report);
  lse.check(result.report);
  workspace.check(result.report);
  result.row_ran.assign(q_rows, true);
  return result;
}

Device device_of(const Gpu& gpu) {
  const std::string& target = gpu.target();
  const auto is = [&](const char* start) { return target.rfind(start, 0) == 0; };
  Device d;
  d.name = target;
  d.family = is("sm_90")    ? device::Family::sm90
             : is("sm_")    ? device::Family::nvidia
             : is("gfx12")  ? device::Family::gfx12
             : is("gfx11")  ? device::Family::gfx11
                            : device::Family::gfx9;
  d.has_fp8 = is("sm_89") || is("sm_9") || is("sm_1") || is("gfx12") || is("gfx942");
  d.fp8 = is("gfx942") ? reference::ValueFormat::fp8_fnuz : reference::ValueFormat::fp8_ocp;
  d.shared_limit = 0;
  d.tie_share = 0.02;  // one unit of 127, times a score's weight in the row
  d.gpu = &gpu;
  d.run = &run_on_gpu;
  return d;
}

}  // namespace sage::trial
