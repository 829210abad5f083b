// Runs the whole chain of kernels for one problem, on emulated lanes or on a GPU, and compares the result with the
// references. The smoke test of a build and the tests of the kernels are made of the same trials.
//
// What goes wrong outside of the kernels (no such tile, a driver that refuses a call) is thrown: a trial has nothing
// sensible to go on with.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../device/plan.hpp"
#include "../emulator/machine.hpp"
#include "../reference/reference.hpp"

namespace sage::trial {

// An emulated kernel; those of sm_90 take a view of V, too.
class Kernel {
 public:
  Kernel(void (*plain)(SageArgs)) : plain_(plain) {}                         // NOLINT(google-explicit-constructor)
  Kernel(void (*mapped)(SageArgs, SageTensorMap)) : mapped_(mapped) {}       // NOLINT(google-explicit-constructor)
  void operator()(const SageArgs& args, const SageTensorMap& values) const { plain_ != nullptr ? plain_(args) : mapped_(args, values); }

 private:
  void (*plain_)(SageArgs) = nullptr;
  void (*mapped_)(SageArgs, SageTensorMap) = nullptr;
};

class Gpu;
struct Options;
struct Result;

// Where kernels run: an emulated target with its kernels by exported name, or a GPU.
struct Device {
  std::string name;
  device::Family family;
  bool has_fp8;
  reference::ValueFormat fp8;
  std::size_t shared_limit;
  // A GPU's compiler joins products and sums (FMA), so that the mean of K may differ in its last bit from the reference's and
  // a value that lies on a tie of the rounding to int8 falls to the other side: one unit in one key, a share of this over
  // kv_len. 0 on emulated lanes, which round as the reference does.
  double tie_share = 0.0;
  std::vector<std::pair<std::string, Kernel>> kernels;  // of an emulated target
  const Gpu* gpu = nullptr;                             // of a GPU: the library finds the kernels by itself
  Result (*run)(const Device& device, const device::Problem& problem, const Options& options) = nullptr;
  [[nodiscard]] Kernel find(const std::string& kernel) const;
  [[nodiscard]] reference::ValueFormat format(device::PvType pv) const {
    return pv == device::PvType::fp8 ? fp8 : reference::ValueFormat::f16;
  }
};

// Deterministic normal numbers.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform();
  double normal();

 private:
  std::uint64_t state_;
};

enum class Layout { hnd, nhd, padded, transposed };  // transposed: head dim stride is not 1

// Caller's tensors for a problem: contiguous in the layout's order, f16 or bf16.
struct Tensors {
  std::vector<std::uint16_t> q, k, v;
  SageStrides q_stride{}, k_stride{}, v_stride{}, out_stride{};
  std::size_t out_elements = 0;
};

using Fill = std::function<double(char tensor, int batch, int head, int token, int dim, Random& random)>;
double normal_fill(char tensor, int batch, int head, int token, int dim, Random& random);

struct Options {
  Layout layout = Layout::hnd;
  Fill fill = normal_fill;
  double sm_scale = 0.0;  // 0: 1/sqrt(head_dim)
  std::uint64_t seed = 1;
  std::vector<int> workgroups;  // empty: all
  sage_emulator::WaveOrder order = sage_emulator::WaveOrder::forward;
  int length = -1;  // a device::Length, or -1 for the choice by q_len
  const device::Tile* tile = nullptr;  // this one, on emulated lanes; null: by length
  // Elements between tokens in the device's tensors, which then lie in sparsely mapped memory as [token][head][dim]; 0: as `layout` says.
  std::int64_t sparse_token_stride = 0;
};

struct Result {
  device::Problem problem;
  device::Tile tile{};
  Tensors tensors;
  double sm_scale = 0.0;
  std::vector<std::uint16_t> out;
  std::vector<float> lse;
  std::vector<bool> row_ran;  // [batch][q_heads][q_len]
  sage_emulator::Report report;

  [[nodiscard]] reference::Inputs inputs() const;
  [[nodiscard]] double value(int batch, int head, int query, int dim) const;
};

// Everything but the outputs: the tile that will be used, inputs filled in the layout's order, the scale as the kernels take it.
Result prepare(const Device& device, const device::Problem& problem, const Options& options);

// prepare(), then the kernels, where the device says.
inline Result run_problem(const Device& device, const device::Problem& problem, const Options& options) {
  return device.run(device, problem, options);
}

struct Errors {
  double relative_l1 = 0.0;
  double rmse = 0.0;
  double worst_row = 0.0;  // relative L1 of a single row
  double lse = 0.0;        // largest absolute difference
  double cosine = 0.0;     // printed only: it is blind to a scaled row
  int rows = 0;
  int not_a_number = 0;
};

enum class Against { exact, quantised };
// `every`: compares every n-th row that ran.
Errors compare(const Device& device, const Result& result, Against against, int every = 1);

std::string describe(const Errors& errors);

}  // namespace sage::trial
