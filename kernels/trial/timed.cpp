#include "timed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "../device/prologue_bytes.hpp"
#include "../runtime/chain.hpp"
#include "../runtime/objects.hpp"
#include "abi_problem.hpp"
#include "timer.hpp"

namespace sage::trial {
namespace {

constexpr double budget_ms = 500.0;
constexpr int fewest_runs = 5;
constexpr int most_runs = 50;
// More than the last-level cache of any GPU with kernels (256 MiB on MI300).
constexpr std::size_t most_flushed = std::size_t{512} << 20U;
constexpr std::size_t most_copied = most_flushed;
constexpr std::size_t least_large = std::size_t{16} << 20U;
constexpr double copy_warm_up_ms = 100.0;
constexpr int most_copies = 1000;
constexpr int copies = 15;
constexpr int rows_of_a_head = 24;

void require(const sage_status status, const sage_error& error) {
  if (status != SAGE_OK) throw std::runtime_error(error.text);
}

class Memory {
 public:
  Memory(const Gpu& gpu, const std::size_t bytes) : gpu_(gpu), at_(gpu.allocate(bytes)) {}
  ~Memory() { gpu_.release(at_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] unsigned char* at() const { return static_cast<unsigned char*>(at_); }

 private:
  const Gpu& gpu_;
  void* at_;
};

// As large as the memory that is left allows.
struct Large {
  std::unique_ptr<Memory> memory;
  std::size_t bytes = 0;
};

Large make_large(const Gpu& gpu, const std::size_t most) {
  for (std::size_t bytes = most; bytes >= least_large; bytes /= 2) {
    try {
      return {std::make_unique<Memory>(gpu, bytes), bytes};
    } catch (const std::runtime_error&) {
      continue;
    }
  }
  return {};
}

// Normal numbers of a head. Making as many as a tensor has would take longer than all that is timed: a block of them, whose length
// has no factor in common with any row's, is repeated from a place of each head's own.
class Numbers {
 public:
  Numbers(const std::uint64_t seed, const int io_type) : block_(length) {
    Random random(seed);
    for (auto& x : block_) x = reference::encode(random.normal(), io_type);
  }
  [[nodiscard]] std::vector<std::uint16_t> head(const int number, const std::size_t elements) const {
    std::vector<std::uint16_t> values;
    values.reserve(elements + length);
    const auto first = block_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(number) * 7919 % length);
    values.assign(first, block_.end());
    while (values.size() < elements) values.insert(values.end(), block_.begin(), block_.end());
    values.resize(elements);
    return values;
  }

 private:
  static constexpr std::size_t length = 65521;  // a prime
  std::vector<std::uint16_t> block_;
};

SageStrides dense_strides(const std::int64_t heads, const std::int64_t tokens, const std::int64_t dim) {
  return {heads * tokens * dim, tokens * dim, dim, 1};
}

// A tensor [batch][heads][tokens][dim] on the GPU; on the host it is there a head at a time.
class GpuTensor {
 public:
  GpuTensor(const Gpu& gpu, const int batch, const int heads, const int tokens, const int dim)
      : gpu_(gpu),
        stride_(dense_strides(heads, tokens, dim)),
        head_elements_(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(dim)),
        slices_(checked_slices(batch, heads)),
        memory_(gpu, bytes()) {}
  void fill(const Numbers& numbers) const {
    for (int slice = 0; slice < slices_; ++slice) {
      const std::vector<std::uint16_t> values = numbers.head(slice, head_elements_);
      gpu_.write(at(slice), values.data(), values.size() * 2);
    }
  }
  void poison() const { gpu_.fill(memory_.at(), 0xff, bytes()); }
  [[nodiscard]] std::vector<std::uint16_t> read(const int slice) const {
    std::vector<std::uint16_t> values(head_elements_);
    gpu_.read(values.data(), at(slice), values.size() * 2);
    return values;
  }
  [[nodiscard]] void* data() const { return memory_.at(); }
  [[nodiscard]] const SageStrides& stride() const { return stride_; }
  [[nodiscard]] std::size_t head_elements() const { return head_elements_; }
  [[nodiscard]] int slices() const { return slices_; }

 private:
  [[nodiscard]] static int checked_slices(const int batch, const int heads) {
    const std::int64_t slices = std::int64_t{batch} * heads;
    if (slices > std::numeric_limits<int>::max()) throw std::runtime_error("batch times heads is more than an int holds");
    return static_cast<int>(slices);
  }
  [[nodiscard]] std::size_t bytes() const { return head_elements_ * 2 * static_cast<std::size_t>(slices_); }
  [[nodiscard]] unsigned char* at(const int slice) const { return memory_.at() + static_cast<std::size_t>(slice) * head_elements_ * 2; }

  const Gpu& gpu_;
  SageStrides stride_;
  std::size_t head_elements_;
  int slices_;
  Memory memory_;
};

// A call with its tensors.
class Call {
 public:
  Call(const Gpu& gpu, const device::Problem& p)
      : gpu_(gpu),
        problem_(p),
        q_numbers_(1, p.io_type),
        k_numbers_(2, p.io_type),
        v_numbers_(3, p.io_type),
        q_(gpu, p.batch, p.q_heads, p.q_len, p.head_dim),
        k_(gpu, p.batch, p.kv_heads, p.kv_len, p.head_dim),
        v_(gpu, p.batch, p.kv_heads, p.kv_len, p.head_dim),
        out_(gpu, p.batch, p.q_heads, p.q_len, p.head_dim),
        scale_(1.0 / std::sqrt(static_cast<double>(p.head_dim))) {
    q_.fill(q_numbers_);
    k_.fill(k_numbers_);
    v_.fill(v_numbers_);
    out_.poison();
    asked = abi_problem(p, scale_, q_.stride(), k_.stride(), v_.stride(), out_.stride());
    sage_error error{};
    std::uint64_t workspace_bytes = 0;
    require(gpu.library().workspace(gpu.context(), &asked, &workspace_bytes, &error), error);
    workspace_ = std::make_unique<Memory>(gpu, std::max<std::size_t>(workspace_bytes, 256));
    buffers.struct_size = sizeof buffers;
    buffers.version = SAGE_ATTENTION_VERSION;
    buffers.q = q_.data();
    buffers.k = k_.data();
    buffers.v = v_.data();
    buffers.out = out_.data();
    buffers.workspace = workspace_->at();
    buffers.workspace_size = workspace_bytes;
  }

  void launch(void* stream) const {
    sage_error error{};
    require(gpu_.library().launch(gpu_.context(), &asked, &buffers, stream, &error), error);
  }

  // What the library starts from.
  [[nodiscard]] SageArgs arguments() const {
    SageArgs args{};
    args.q = buffers.q;
    args.k = buffers.k;
    args.v = buffers.v;
    args.out = buffers.out;
    args.q_stride = q_.stride();
    args.k_stride = k_.stride();
    args.v_stride = v_.stride();
    args.out_stride = out_.stride();
    args.sm_scale = static_cast<float>(scale_);
    return args;
  }

  // Some rows of the first, the middle and the last head.
  [[nodiscard]] Errors errors(const Device& device) const {
    Errors all;
    double difference = 0.0;
    double squares = 0.0;
    std::vector<int> some = {0, q_.slices() / 2, q_.slices() - 1};
    some.erase(std::unique(some.begin(), some.end()), some.end());
    for (const int slice : some) {
      const Errors e = compare(device, result(slice), Against::exact, std::max(1, problem_.q_len / rows_of_a_head));
      difference += e.relative_l1;
      squares += e.rmse * e.rmse;
      all.worst_row = std::max(all.worst_row, e.worst_row);
      all.rows += e.rows;
      all.not_a_number += e.not_a_number;
    }
    all.relative_l1 = difference / static_cast<double>(some.size());
    all.rmse = std::sqrt(squares / static_cast<double>(some.size()));
    return all;
  }

  sage_attention_problem asked{};
  sage_attention_buffers buffers{};

 private:
  // One head of Q, with its K and V, as a problem of its own.
  [[nodiscard]] Result result(const int slice) const {
    const int batch = slice / problem_.q_heads;
    const int head = slice - batch * problem_.q_heads;
    const int kv = batch * problem_.kv_heads + head / (problem_.q_heads / problem_.kv_heads);
    Result r;
    r.problem = problem_;
    r.problem.batch = r.problem.q_heads = r.problem.kv_heads = 1;
    r.sm_scale = static_cast<float>(scale_);
    r.tensors.q = q_numbers_.head(slice, q_.head_elements());
    r.tensors.k = k_numbers_.head(kv, k_.head_elements());
    r.tensors.v = v_numbers_.head(kv, v_.head_elements());
    r.tensors.q_stride = r.tensors.out_stride = dense_strides(1, problem_.q_len, problem_.head_dim);
    r.tensors.k_stride = r.tensors.v_stride = dense_strides(1, problem_.kv_len, problem_.head_dim);
    r.out = out_.read(slice);
    r.row_ran.assign(static_cast<std::size_t>(problem_.q_len), true);
    return r;
  }

  const Gpu& gpu_;
  device::Problem problem_;
  Numbers q_numbers_, k_numbers_, v_numbers_;
  GpuTensor q_, k_, v_, out_;
  std::unique_ptr<Memory> workspace_;
  double scale_ = 1.0;
};

// The kernels of a call, loaded once more beside the library that has them already, so that a part of the chain can be launched.
class Chain {
 public:
  Chain(const Gpu& gpu, const std::string& folder, const device::Tile& tile) : tile_(tile) {
    check(runtime::Driver::open(gpu.is_hip() ? SAGE_API_HIP : SAGE_API_CUDA, gpu.runtime_path().c_str(), driver_));
    runtime::Device device;
    check(driver_.current_device(device));
    std::vector<runtime::Offered> offered;
    check(runtime::read_folder(folder.c_str(), offered));
    check(runtime::select(std::move(offered), driver_.api(), device, candidates_));
    kernels_.statistics = load(device::statistics_kernel);
    kernels_.finalise = load(device::finalise_kernel);
    kernels_.quantise = load(device::quantise_kernel);
    kernels_.attention = load(tile.kernel);
    check(driver_.allow_shared_bytes(kernels_.attention, runtime::dynamic_shared_bytes(driver_, tile)));
  }
  void launch(const runtime::ChainPart part, const device::Problem& problem, const SageArgs& caller, void* workspace, void* stream) const {
    check(runtime::launch_chain(driver_, kernels_, problem, tile_, caller, workspace, stream, part));
  }

 private:
  struct Loaded {
    const runtime::Candidate* from;
    runtime::Module module;
  };
  // Unloaded also where the constructor gives up half way.
  struct Modules {
    explicit Modules(const runtime::Driver& owner) : driver(owner) {}
    ~Modules() {
      for (const Loaded& one : all) {
        if (one.module != nullptr) driver.unload(one.module);
      }
    }
    Modules(const Modules&) = delete;
    Modules& operator=(const Modules&) = delete;
    const runtime::Driver& driver;
    std::vector<Loaded> all;
  };
  static void check(const runtime::Failure& failure) {
    if (failure) throw std::runtime_error(failure.text);
  }
  runtime::Function load(const char* kernel) {
    const auto has = [kernel](const runtime::Candidate& one) {
      return std::any_of(one.kernels.begin(), one.kernels.end(), [&](const runtime::KernelFacts& k) { return k.name == kernel; });
    };
    const auto found = std::find_if(candidates_.begin(), candidates_.end(), has);
    if (found == candidates_.end()) throw std::runtime_error(std::string("no code object has ") + kernel);
    auto module = std::find_if(modules_.all.begin(), modules_.all.end(), [&](const Loaded& one) { return one.from == &*found; });
    if (module == modules_.all.end()) {
      modules_.all.push_back({&*found, nullptr});
      module = modules_.all.end() - 1;
      check(driver_.load(found->image.data(), module->module));
    }
    runtime::Function function = nullptr;
    check(driver_.function(module->module, kernel, function));
    return function;
  }

  const device::Tile& tile_;
  runtime::Driver driver_;
  std::vector<runtime::Candidate> candidates_;
  Modules modules_{driver_};
  runtime::ChainKernels kernels_;
};

const device::Tile& chosen_tile(const Gpu& gpu, const device::Family family, const sage_attention_problem& asked) {
  const char* name = nullptr;
  sage_error error{};
  require(gpu.library().kernel(gpu.context(), &asked, &name, &error), error);
  const std::size_t index = device::tile_index(family, name);
  if (index == device::tile_count) throw std::runtime_error(std::string(name) + " is no kernel of this program");
  return device::tile_at(index);
}

class Stream {
 public:
  explicit Stream(const Gpu& gpu) : gpu_(gpu), stream_(gpu.make_stream()) {}
  ~Stream() { gpu_.destroy_stream(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] void* get() const { return stream_; }

 private:
  const Gpu& gpu_;
  void* stream_;
};

}  // namespace

Timed time_problem(const Gpu& gpu, const std::string& folder, const TimedRequest& request) {
  const Device device = device_of(gpu);
  const Call call(gpu, request.problem);
  const Large flush = make_large(gpu, most_flushed);
  const GpuTimer timer(gpu);
  const Stream stream(gpu);
  Timed timed;
  timed.flushed_bytes = flush.bytes;
  const device::Tile& tile = chosen_tile(gpu, device.family, call.asked);
  timed.kernel = tile.kernel;

  const auto measure = [&](const auto& enqueue) {
    const auto once = [&] {
      if (flush.bytes > 0) timer.fill(flush.memory->at(), 0, flush.bytes, stream.get());
      return timer.time(stream.get(), enqueue);
    };
    double last = 0.0;
    for (int i = 0; i < std::max(1, request.warm_up); ++i) last = once();
    const int fitting = static_cast<int>(std::clamp(budget_ms / std::max(last, 1e-3), 1.0 * fewest_runs, 1.0 * most_runs));
    std::vector<double> times(static_cast<std::size_t>(request.runs > 0 ? request.runs : fitting));
    for (double& one : times) one = once();
    return times;
  };

  gpu.synchronise(nullptr);
  if (request.kernel_only) {
    call.launch(stream.get());
    gpu.synchronise(stream.get());
  } else {
    timed.call_ms = measure([&] { call.launch(stream.get()); });
  }
  timed.errors = call.errors(device);
  timed.gate = smoke_gate(request.problem.pv);
  timed.accurate = timed.errors.rows > 0 && timed.errors.not_a_number == 0 &&
                   timed.errors.relative_l1 <= timed.gate.relative_l1 && timed.errors.worst_row <= timed.gate.worst_row;
  timed.prologue_bytes = device::prologue_bytes(request.problem, tile).sum();
  try {
    // The workspace is as the last whole call left it.
    const Chain chain(gpu, folder, tile);
    const auto measure_part = [&](const runtime::ChainPart part) {
      return measure([&] { chain.launch(part, request.problem, call.arguments(), call.buffers.workspace, stream.get()); });
    };
    timed.kernel_ms = measure_part(runtime::ChainPart::attention);
    if (!request.kernel_only) timed.prologue_ms = measure_part(runtime::ChainPart::prologue);
  } catch (const std::runtime_error& problem) {
    timed.note = std::string("kernel and prologue could not be timed alone: ") + problem.what();
  }
  return timed;
}

TimedCopy time_copy(const Gpu& gpu) {
  const Large from = make_large(gpu, most_copied);
  const Large to = make_large(gpu, from.bytes);
  TimedCopy timed;
  timed.bytes = std::min(from.bytes, to.bytes);
  if (timed.bytes == 0) return timed;
  const GpuTimer timer(gpu);
  const Stream stream(gpu);
  const auto once = [&] {
    return timer.time(stream.get(), [&] { timer.copy(to.memory->at(), from.memory->at(), timed.bytes, stream.get()); });
  };
  // A GPU that was idle takes a while to reach its clocks.
  double spent = 0.0;
  for (int i = 0; i < most_copies && spent < copy_warm_up_ms; ++i) spent += once();
  for (int i = 0; i < copies; ++i) timed.milliseconds.push_back(once());
  return timed;
}

GpuFacts gpu_facts(const Gpu& gpu) {
  GpuFacts facts;
  if (auto* const version = reinterpret_cast<int (*)(int*)>(gpu.driver_symbol("hipDriverGetVersion", "cuDriverGetVersion"))) {
    if (version(&facts.driver_version) != 0) facts.driver_version = 0;
  }
  if (gpu.is_hip()) return facts;
  using Attribute = int (*)(int*, int, int);
  constexpr int clock_khz = 13;
  constexpr int multiprocessors = 16;
  auto* const attribute = reinterpret_cast<Attribute>(gpu.driver_symbol(nullptr, "cuDeviceGetAttribute"));
  if (attribute == nullptr) return facts;
  int khz = 0;
  if (attribute(&facts.units, multiprocessors, 0) != 0) facts.units = 0;
  if (attribute(&khz, clock_khz, 0) == 0) facts.mhz = khz / 1000;
  return facts;
}

}  // namespace sage::trial
