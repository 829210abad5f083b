// Attention in double precision, and the quantised algorithm in plain loops.
//
// Two references separate two kinds of error. exact_row() is the definition of attention: a kernel's distance from it is quantisation error
// plus kernel error. QuantisedReference repeats what the prologue does (mean, scales, int8, V in the PV type) and then computes softmax
// in double: a kernel's distance from it is the kernel's own error. P is rounded to fp8 there when the kernel does so, because that alone is
// 2.7 % and would hide everything else; rounding to f16 is left to the kernel's account.
#pragma once
#include <cstdint>
#include <vector>

#include "../device/plan.hpp"

namespace sage::reference {

// A tensor of 2-byte elements as the caller holds it.
struct Tensor {
  const std::uint16_t* data = nullptr;
  SageStrides stride{};
  int io_type = SAGE_TYPE_F16;
  [[nodiscard]] double at(std::int64_t batch, std::int64_t head, std::int64_t token, std::int64_t dim) const;
};

double decode(std::uint16_t bits, int io_type);
std::uint16_t encode(double x, int io_type);  // nearest even; f16 saturates to infinity

// Keys that a query sees: [0, visible_keys()).
std::int64_t visible_keys(const device::Problem& problem, std::int64_t query);

struct Row {
  std::vector<double> out;
  double lse = 0.0;  // natural logarithm, -inf when no key is visible
};

struct Inputs {
  device::Problem problem;
  Tensor q, k, v;
  double sm_scale = 1.0;
};

Row exact_row(const Inputs& in, std::int64_t batch, std::int64_t head, std::int64_t query);

enum class ValueFormat { f16, fp8_ocp, fp8_fnuz };

// One (batch, kv head) quantised; rows() of the q heads that share it.
class QuantisedReference {
 public:
  QuantisedReference(const Inputs& in, std::int64_t batch, std::int64_t kv_head, ValueFormat format);
  [[nodiscard]] Row row(std::int64_t head, std::int64_t query) const;

 private:
  const Inputs& in_;
  std::int64_t batch_;
  ValueFormat format_;
  std::vector<double> mean_;      // [head_dim]
  std::vector<int> k8_;           // [kv_len][head_dim]
  std::vector<double> k_scale_;   // [ceil(kv_len / 32)]
  std::vector<double> v_;         // [kv_len][head_dim], rounded to the PV type and scaled back
};

// Scales carry 10 significant bits, rounded up (device/prologue.hpp).
double round_scale(double x);

}  // namespace sage::reference
