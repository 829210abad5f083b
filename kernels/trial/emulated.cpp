// One problem through the whole chain of kernels on emulated lanes.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "emulated.hpp"

namespace sage::trial {
namespace {

using sage_emulator::GlobalMemory;

// A buffer at a 16-byte boundary, poisoned, registered under its own name, so that a neighbour's memory is never in reach.
template <class T>
class Buffer {
 public:
  Buffer(GlobalMemory& memory, const std::string& name, const std::size_t count)
      : bytes_(count * sizeof(T)), memory_(std::make_unique<unsigned char[]>(bytes_ + 64)) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    data_ = memory_.get() + ((address + 31) / 16 * 16 - address);
    std::fill_n(memory_.get(), bytes_ + 64, static_cast<unsigned char>(0xff));
    if (count > 0) memory.add(name, data_, bytes_, GlobalMemory::Access::read_write, false);
  }
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(data_); }

 private:
  std::size_t bytes_;
  std::unique_ptr<unsigned char[]> memory_;
  unsigned char* data_ = nullptr;
};

// A tensor as the device sees it: a dense copy, or the same elements scattered over a sparse mapping far larger than memory.
class DeviceTensor {
 public:
  DeviceTensor(GlobalMemory& memory, const std::string& name, const std::vector<std::uint16_t>& dense, const SageStrides& dense_stride,
               const std::array<int, 4>& extents, const std::int64_t sparse_token_stride, const bool is_input)
      : dense_stride_(dense_stride), extents_(extents) {
    if (sparse_token_stride == 0) {
      stride_ = dense_stride;
      buffer_ = std::make_unique<Buffer<std::uint16_t>>(memory, name, dense.size());
      data_ = buffer_->data();
      if (is_input) std::copy(dense.begin(), dense.end(), data_);
      if (is_input) memory.mark_written(data_, dense.size() * 2);
      return;
    }
    const auto [batch, heads, tokens, dim] = extents;
    stride_ = {std::int64_t{heads} * dim, dim, sparse_token_stride, 1};
    bytes_ = static_cast<std::size_t>((tokens - 1) * sparse_token_stride + std::int64_t{batch} * heads * dim) * 2;
    void* const map = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) throw std::runtime_error("cannot map a sparse tensor");
    data_ = static_cast<std::uint16_t*>(map);
    memory.add(name, data_, bytes_, GlobalMemory::Access::read_write, false);
    if (is_input) {
      each([&](const std::size_t to, const std::size_t from) {
        data_[to] = dense[from];
        memory.mark_written(data_ + to, 2);
      });
    }
  }
  ~DeviceTensor() {
    if (bytes_ > 0) munmap(data_, bytes_);
  }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;
  DeviceTensor(DeviceTensor&&) = delete;
  DeviceTensor& operator=(DeviceTensor&&) = delete;

  [[nodiscard]] std::uint16_t* data() const { return data_; }
  [[nodiscard]] const SageStrides& stride() const { return stride_; }
  void gather(std::vector<std::uint16_t>& dense, const std::size_t elements) const {
    if (bytes_ == 0) {
      dense.assign(data_, data_ + elements);
      return;
    }
    dense.assign(elements, 0);
    each([&](const std::size_t at, const std::size_t to) { dense[to] = data_[at]; });
  }

 private:
  template <class F>
  void each(F f) const {
    const auto [batch, heads, tokens, dim] = extents_;
    const auto at = [](const SageStrides& s, const int b, const int h, const int t, const int d) {
      return static_cast<std::size_t>(b * s.batch + h * s.head + t * s.token + d * s.dim);
    };
    for (int b = 0; b < batch; ++b) {
      for (int h = 0; h < heads; ++h) {
        for (int t = 0; t < tokens; ++t) {
          for (int d = 0; d < dim; ++d) f(at(stride_, b, h, t, d), at(dense_stride_, b, h, t, d));
        }
      }
    }
  }
  std::unique_ptr<Buffer<std::uint16_t>> buffer_;
  std::uint16_t* data_ = nullptr;
  std::size_t bytes_ = 0;
  SageStrides stride_{};
  SageStrides dense_stride_;
  std::array<int, 4> extents_;
};

// What stands in for the driver's encoding.
SageTensorMap emulated_map(const device::TensorView& view) {
  sage_emulator::TensorMap map{};
  map.base = static_cast<const unsigned char*>(view.base);
  std::copy(std::begin(view.extents), std::end(view.extents), map.extents);
  std::copy(std::begin(view.strides), std::end(view.strides), map.strides);
  std::copy(std::begin(view.box), std::end(view.box), map.box);
  map.swizzle_bytes = view.swizzle_bytes;
  SageTensorMap opaque{};
  std::memcpy(opaque.opaque, &map, sizeof map);
  return opaque;
}

}  // namespace

Kernel Device::find(const std::string& kernel) const {
  for (const auto& [candidate, function] : kernels) {
    if (candidate == kernel) return function;
  }
  throw std::invalid_argument("no kernel " + kernel + " on " + name);
}

Result run_emulated(const Device& device, const device::Problem& problem, const Options& options) {
  Result result = prepare(device, problem, options);
  const device::Tile* const tile = &result.tile;
  const Tensors& t = result.tensors;

  GlobalMemory memory;
  const std::array<int, 4> q_extents{problem.batch, problem.q_heads, problem.q_len, problem.head_dim};
  const std::array<int, 4> kv_extents{problem.batch, problem.kv_heads, problem.kv_len, problem.head_dim};
  const std::int64_t sparse = options.sparse_token_stride;
  const DeviceTensor q(memory, "q", t.q, t.q_stride, q_extents, sparse, true);
  const DeviceTensor k(memory, "k", t.k, t.k_stride, kv_extents, sparse, true);
  const DeviceTensor v(memory, "v", t.v, t.v_stride, kv_extents, sparse, true);
  const DeviceTensor out(memory, "out", t.q, t.out_stride, q_extents, sparse, false);
  const std::size_t q_rows = static_cast<std::size_t>(problem.batch) * static_cast<std::size_t>(problem.q_heads) *
                             static_cast<std::size_t>(problem.q_len);
  const Buffer<float> lse(memory, "lse", problem.want_lse ? q_rows : 0);

  SageArgs args{};
  args.q = q.data();
  args.k = k.data();
  args.v = v.data();
  args.out = out.data();
  args.lse = problem.want_lse ? lse.data() : nullptr;
  args.q_stride = q.stride();
  args.k_stride = k.stride();
  args.v_stride = v.stride();
  args.out_stride = out.stride();
  args.sm_scale = static_cast<float>(result.sm_scale);
  alignas(256) static unsigned char nowhere[1];
  const device::Grids grids = device::fill_args(args, problem, *tile, nowhere);

  // Each part of the workspace is a region of its own: an overrun into the next part is out of bounds, not unnoticed.
  const device::Workspace w = device::workspace_layout(problem, *tile);
  const auto part = [](const std::int64_t begin, const std::int64_t end) { return static_cast<std::size_t>(end - begin); };
  const std::int64_t kv = std::int64_t{problem.batch} * problem.kv_heads;
  const std::size_t prepared_rows = tile->warpgroups() ? 0 : q_rows;
  const Buffer<signed char> q8(memory, "q8", prepared_rows * static_cast<std::size_t>(device::stored_row(args.dp)));
  const Buffer<signed char> k8(memory, "k8", static_cast<std::size_t>(kv * args.key_padded * device::stored_row(args.dp)));
  const Buffer<unsigned char> vt(memory, "vt",
                                 static_cast<std::size_t>(kv * args.key_padded * args.dp * (problem.pv == device::PvType::f16 ? 2 : 1)));
  const Buffer<float> q_scale(memory, "q_scale", prepared_rows);
  const Buffer<float> k_scale(memory, "k_scale", static_cast<std::size_t>(kv * args.key_padded / device::keys_per_scale));
  const Buffer<float> v_scale(memory, "v_scale", static_cast<std::size_t>(kv * args.dp));
  const Buffer<float> k_mean(memory, "k_mean", part(w.k_mean, w.q_mean) / 4 == 0 ? 0 : static_cast<std::size_t>(kv * args.dp));
  const Buffer<float> q_mean(memory, "q_mean", device::needs_q_mean(problem) ? prepared_rows : 0);
  const Buffer<float> partial(
      memory, "partial",
      device::needs_statistics(problem) ? static_cast<std::size_t>(kv * args.kv_chunks * 2 * args.dp) : 0);
  args.q8 = q8.data();
  args.k8 = k8.data();
  args.vt = vt.data();
  args.q_scale = q_scale.data();
  args.k_scale = k_scale.data();
  args.v_scale = v_scale.data();
  if (args.k_mean != nullptr) args.k_mean = k_mean.data();
  if (args.q_mean != nullptr) args.q_mean = q_mean.data();
  if (args.partial != nullptr) args.partial = partial.data();
  SageTensorMap values{};
  if (device::reads_value_rows(*tile) && problem.kv_len > 0) values = emulated_map(device::value_view(args, *tile));
  const auto launch = [&](const char* name, const std::int64_t first, const std::int64_t grid, const int threads,
                          const std::size_t shared_limit) {
    sage_emulator::Launch l;
    l.first_workgroup = static_cast<int>(first);
    l.grid = static_cast<int>(grid);
    l.threads = threads;
    l.wave_size = tile->wave_size();
    l.shared_limit = shared_limit;
    l.order = options.order;
    const Kernel kernel = device.find(name);
    sage_emulator::run(l, [kernel, &args, &values] { kernel(args, values); }, memory, result.report);
  };
  if (grids.statistics > 0) launch(device::statistics_kernel, 0, grids.statistics, device::prologue_threads, device.shared_limit);
  if (grids.finalise > 0) launch(device::finalise_kernel, 0, grids.finalise, device::prologue_threads, device.shared_limit);
  launch(device::quantise_kernel, 0, grids.quantise, device::prologue_threads, device.shared_limit);
  result.row_ran.assign(q_rows, false);
  std::vector<int> workgroups = options.workgroups;
  if (workgroups.empty()) {
    for (int i = 0; i < grids.attention; ++i) workgroups.push_back(i);
  }
  // Never more than the plan says: that is what a launch asks for.
  const std::size_t planned = std::min<std::size_t>(device.shared_limit, static_cast<std::size_t>(device::tile_lds_bytes(*tile)));
  for (const int id : workgroups) {
    launch(tile->kernel, id, 1, tile->threads(), planned);
    const int slice = id / args.q_tiles;
    const int first = (args.q_tiles - 1 - id % args.q_tiles) * tile->queries();
    for (int row = first; row < std::min(first + tile->queries(), problem.q_len); ++row) {
      result.row_ran[static_cast<std::size_t>(slice) * static_cast<std::size_t>(problem.q_len) + static_cast<std::size_t>(row)] = true;
    }
  }
  out.gather(result.out, t.out_elements);
  if (problem.want_lse) result.lse.assign(lse.data(), lse.data() + q_rows);
  return result;
}

}  // namespace sage::trial
