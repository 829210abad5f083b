#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "small_float.hpp"

namespace sage::reference {
namespace {

constexpr double log2_e = 1.4426950408889634;

double round_value(const double x, const ValueFormat format) {
  switch (format) {
    case ValueFormat::f16:
      return round_small(x, small_f16);
    case ValueFormat::fp8_ocp:
      return round_small(x, small_e4m3);
    case ValueFormat::fp8_fnuz:
      return round_small(x, small_e4m3_fnuz);
  }
  return x;
}

// In single precision like the prologue: a value that double precision puts on the other side of a half is not a kernel error.
int round_to_int8(const float x, const double unit, const double scale) {
  return static_cast<int>(std::nearbyint(x * (static_cast<float>(unit) / static_cast<float>(scale))));
}

// The kernel's running maximum is a whole number of binary orders, so which one it happens to be does not change how a normal fp8
// number rounds: 2^(logit - ceil(max) + 4) here stands for every history of rescales. (FNUZ: one order less range, offset 3.)
double round_probability(const double log2_p, const double log2_top, const ValueFormat format) {
  if (format == ValueFormat::f16) return std::exp2(log2_p - std::ceil(log2_top));
  return round_value(std::exp2(log2_p - std::ceil(log2_top) + (format == ValueFormat::fp8_fnuz ? 3.0 : 4.0)), format);
}

// `values(key)`: the first of the `dim` values of V of that key.
template <class Values>
void softmax_row(const std::vector<double>& logits, const Values& values, const std::size_t dim, const ValueFormat format, Row& row) {
  row.out.assign(dim, 0.0);
  if (logits.empty()) {
    row.lse = -std::numeric_limits<double>::infinity();
    return;
  }
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  double exact_sum = 0.0;
  for (std::size_t key = 0; key < logits.size(); ++key) {
    const double p = round_probability(logits[key] * log2_e, top * log2_e, format);
    sum += p;
    exact_sum += std::exp(logits[key] - top);
    const double* const v = values(key);
    for (std::size_t d = 0; d < dim; ++d) row.out[d] += p * v[d];
  }
  for (double& x : row.out) x /= sum;
  row.lse = top + std::log(exact_sum);
}

// Half precision as the bits of a float. Decoding is most of what a reference costs: no library function is called for it.
std::uint32_t widened_half(const std::uint32_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t rest = bits & 0x7fffU;
  if (rest >= 0x7c00U) return sign | 0x7f800000U | (rest & 0x3ffU) << 13;
  if (rest >= 0x400U) return sign | ((rest << 13) + (112U << 23));
  const float magnitude = static_cast<float>(rest) * 0x1p-24F;
  std::uint32_t wide = 0;
  std::memcpy(&wide, &magnitude, 4);
  return sign | wide;
}

}  // namespace

double decode(const std::uint16_t bits, const int io_type) {
  const std::uint32_t wide = io_type == SAGE_TYPE_BF16 ? static_cast<std::uint32_t>(bits) << 16 : widened_half(bits);
  float x = 0.0F;
  std::memcpy(&x, &wide, 4);
  return x;
}

std::uint16_t encode(const double x, const int io_type) {
  if (io_type == SAGE_TYPE_BF16) {
    const auto narrow = static_cast<float>(x);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, 4);
    return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
  }
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(round_small(x, small_f16_overflowing));
  if (magnitude > 65504.0) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude == 0.0) return sign;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);
  if (exponent - 1 < -14) return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(magnitude, 24)));
  return static_cast<std::uint16_t>(sign | ((exponent - 1 + 15) << 10) | (static_cast<int>(std::ldexp(fraction, 11)) & 0x3ff));
}

double Tensor::at(const std::int64_t batch, const std::int64_t head, const std::int64_t token, const std::int64_t dim) const {
  return decode(data[batch * stride.batch + head * stride.head + token * stride.token + dim * stride.dim], io_type);
}

std::int64_t visible_keys(const device::Problem& p, const std::int64_t query) {
  std::int64_t end = p.kv_len;
  if (p.mask == SAGE_MASK_CAUSAL_TOP_LEFT) end = query + 1;
  if (p.mask == SAGE_MASK_CAUSAL_BOTTOM_RIGHT) end = query + 1 + (std::int64_t{p.kv_len} - p.q_len);
  return std::clamp<std::int64_t>(end, 0, p.kv_len);
}

Row exact_row(const Inputs& in, const std::int64_t batch, const std::int64_t head, const std::int64_t query) {
  const device::Problem& p = in.problem;
  const auto dim = static_cast<std::size_t>(p.head_dim);
  const std::int64_t kv_head = head / (p.q_heads / p.kv_heads);
  std::vector<double> logits(static_cast<std::size_t>(visible_keys(p, query)));
  std::vector<double> q(dim);
  std::vector<double> other(dim);  // a row of K or V
  const auto take = [&](const Tensor& tensor, const std::int64_t of_head, const std::int64_t token, std::vector<double>& row) {
    for (std::size_t d = 0; d < dim; ++d) row[d] = tensor.at(batch, of_head, token, static_cast<std::int64_t>(d));
  };
  take(in.q, head, query, q);
  for (std::size_t key = 0; key < logits.size(); ++key) {
    take(in.k, kv_head, static_cast<std::int64_t>(key), other);
    double dot = 0.0;
    for (std::size_t d = 0; d < dim; ++d) dot += q[d] * other[d];
    logits[key] = dot * in.sm_scale;
  }
  const auto values = [&](const std::size_t key) {
    take(in.v, kv_head, static_cast<std::int64_t>(key), other);
    return other.data();
  };
  Row row;
  softmax_row(logits, values, dim, ValueFormat::f16, row);
  return row;
}

double round_scale(const double x) {
  constexpr double lowest = 0x1p-60;
  if (x <= lowest) return lowest;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::ceil(std::ldexp(fraction, 10)), exponent - 10);
}

QuantisedReference::QuantisedReference(const Inputs& in, const std::int64_t batch, const std::int64_t kv_head,
                                       const ValueFormat format)
    : in_(in), batch_(batch), format_(format) {
  const device::Problem& p = in.problem;
  const auto dim = static_cast<std::size_t>(p.head_dim);
  const auto keys = static_cast<std::size_t>(p.kv_len);
  std::vector<double> k(keys * dim);
  v_.resize(keys * dim);
  std::vector<double> v_top(dim, 0.0);
  mean_.assign(dim, 0.0);
  for (std::size_t key = 0; key < keys; ++key) {
    for (std::size_t d = 0; d < dim; ++d) {
      const std::size_t i = key * dim + d;
      k[i] = in.k.at(batch, kv_head, static_cast<std::int64_t>(key), static_cast<std::int64_t>(d));
      v_[i] = in.v.at(batch, kv_head, static_cast<std::int64_t>(key), static_cast<std::int64_t>(d));
      if (p.smooth_k) mean_[d] += k[i] / static_cast<double>(keys);
      v_top[d] = std::max(v_top[d], std::fabs(v_[i]));
    }
  }
  constexpr std::size_t group = device::keys_per_scale;
  k8_.resize(keys * dim);
  k_scale_.resize((keys + group - 1) / group);
  for (std::size_t g = 0; g < k_scale_.size(); ++g) {
    const std::size_t end = std::min(keys, (g + 1) * group);
    double top = 0.0;
    for (std::size_t key = g * group; key < end; ++key) {
      for (std::size_t d = 0; d < dim; ++d) top = std::max(top, std::fabs(k[key * dim + d] - mean_[d]));
    }
    k_scale_[g] = round_scale(top / 127.0);
    for (std::size_t key = g * group; key < end; ++key) {
      for (std::size_t d = 0; d < dim; ++d) {
        k8_[key * dim + d] = round_to_int8(static_cast<float>(k[key * dim + d]) - static_cast<float>(mean_[d]), 1.0, k_scale_[g]);
      }
    }
  }
  const bool is_fp8 = format != ValueFormat::f16;
  const double fp8_max = format == ValueFormat::fp8_fnuz ? 240.0 : 448.0;
  for (std::size_t d = 0; d < dim; ++d) {
    double scale = 1.0;
    if (v_top[d] > 0.0 && is_fp8) scale = v_top[d] / fp8_max;
    if (v_top[d] > 0.0 && !is_fp8 && p.io_type == SAGE_TYPE_BF16) scale = std::ldexp(1.0, std::ilogb(v_top[d]) - 14);
    for (std::size_t key = 0; key < keys; ++key) v_[key * dim + d] = round_value(v_[key * dim + d] / scale, format) * scale;
  }
}

Row QuantisedReference::row(const std::int64_t head, const std::int64_t query) const {
  const device::Problem& p = in_.problem;
  const auto dim = static_cast<std::size_t>(p.head_dim);
  std::vector<double> q(dim);
  double top = 0.0;
  double mean_dot = 0.0;
  for (std::size_t d = 0; d < dim; ++d) {
    q[d] = in_.q.at(batch_, head, query, static_cast<std::int64_t>(d));
    top = std::max(top, std::fabs(q[d]));
    mean_dot += q[d] * mean_[d];
  }
  const double unit = in_.sm_scale * log2_e;
  const double q_scale = round_scale(top * std::fabs(unit) / 127.0);
  std::vector<int> q8(dim);
  for (std::size_t d = 0; d < dim; ++d) q8[d] = round_to_int8(static_cast<float>(q[d]), unit, q_scale);
  std::vector<double> logits(static_cast<std::size_t>(visible_keys(p, query)));
  for (std::size_t key = 0; key < logits.size(); ++key) {
    long long dot = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      dot += static_cast<long long>(q8[d]) * k8_[key * dim + d];
    }
    // One unit of the product is at most a quarter of a binary order (device/attention.hpp).
    const double c = std::min(q_scale * k_scale_[key / device::keys_per_scale], 0.25);
    logits[key] = static_cast<double>(dot) * c / log2_e;
  }
  Row row;
  softmax_row(logits, [&](const std::size_t key) { return v_.data() + key * dim; }, dim, format_, row);
  row.lse += mean_dot * in_.sm_scale;
  return row;
}

}  // namespace sage::reference
