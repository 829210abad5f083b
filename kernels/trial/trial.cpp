#include "trial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace sage::trial {
namespace {

// Strides of [batch][heads][tokens][dim] in a layout, and the number of elements.
std::pair<SageStrides, std::size_t> layout_of(const Layout layout, const std::int64_t batch, const std::int64_t heads,
                                              const std::int64_t tokens, const std::int64_t dim) {
  switch (layout) {
    case Layout::hnd:
      return {{heads * tokens * dim, tokens * dim, dim, 1}, static_cast<std::size_t>(batch * heads * tokens * dim)};
    case Layout::nhd:
      return {{tokens * heads * dim, dim, heads * dim, 1}, static_cast<std::size_t>(batch * heads * tokens * dim)};
    case Layout::padded: {
      const std::int64_t row = dim + 3;  // no 16-byte alignment
      return {{heads * tokens * row, tokens * row, row, 1}, static_cast<std::size_t>(batch * heads * tokens * row)};
    }
    case Layout::transposed:
      return {{heads * tokens * dim, tokens * dim, 1, tokens}, static_cast<std::size_t>(batch * heads * tokens * dim)};
  }
  return {};
}

void fill_tensor(std::vector<std::uint16_t>& data, const SageStrides& s, const std::size_t elements, const char name, const int batch,
                 const int heads, const int tokens, const int dim, const int io_type, const Fill& fill, Random& random) {
  data.assign(elements, reference::encode(NAN, SAGE_TYPE_BF16) | 0x7e00);  // gaps hold NaN in both formats
  for (int b = 0; b < batch; ++b) {
    for (int h = 0; h < heads; ++h) {
      for (int t = 0; t < tokens; ++t) {
        for (int d = 0; d < dim; ++d) {
          const double x = fill(name, b, h, t, d, random);
          data[static_cast<std::size_t>(b * s.batch + h * s.head + t * s.token + d * s.dim)] = reference::encode(x, io_type);
        }
      }
    }
  }
}

}  // namespace

double Random::uniform() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return (static_cast<double>(z >> 11) + 0.5) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return radius * std::cos(6.283185307179586 * uniform());
}

double normal_fill(char, int, int, int, int, Random& random) { return random.normal(); }

reference::Inputs Result::inputs() const {
  reference::Inputs in;
  in.problem = problem;
  in.q = {tensors.q.data(), tensors.q_stride, problem.io_type};
  in.k = {tensors.k.data(), tensors.k_stride, problem.io_type};
  in.v = {tensors.v.data(), tensors.v_stride, problem.io_type};
  in.sm_scale = sm_scale;
  return in;
}

double Result::value(const int batch, const int head, const int query, const int dim) const {
  const SageStrides& s = tensors.out_stride;
  return reference::decode(out[static_cast<std::size_t>(batch * s.batch + head * s.head + query * s.token + dim * s.dim)],
                           problem.io_type);
}

Result prepare(const Device& device, const device::Problem& problem, const Options& options) {
  Result result;
  result.problem = problem;
  const int dp = device::padded_head_dim(problem.head_dim);
  const device::Length length =
      options.length < 0 ? device::tile_length(problem.q_len, device.family, dp) : static_cast<device::Length>(options.length);
  const device::Tile* const tile = options.tile != nullptr ? options.tile : device::find_tile(device.family, dp, problem.pv, length);
  if (tile == nullptr) throw std::invalid_argument("no tile for this problem");
  result.tile = *tile;
  result.sm_scale = options.sm_scale != 0.0 ? options.sm_scale : 1.0 / std::sqrt(static_cast<double>(problem.head_dim));

  Tensors& t = result.tensors;
  Random random(options.seed);
  std::size_t elements = 0;
  std::tie(t.q_stride, elements) = layout_of(options.layout, problem.batch, problem.q_heads, problem.q_len, problem.head_dim);
  fill_tensor(t.q, t.q_stride, elements, 'q', problem.batch, problem.q_heads, problem.q_len, problem.head_dim, problem.io_type,
              options.fill, random);
  t.out_stride = t.q_stride;
  t.out_elements = elements;
  std::tie(t.k_stride, elements) = layout_of(options.layout, problem.batch, problem.kv_heads, problem.kv_len, problem.head_dim);
  fill_tensor(t.k, t.k_stride, elements, 'k', problem.batch, problem.kv_heads, problem.kv_len, problem.head_dim, problem.io_type,
              options.fill, random);
  t.v_stride = t.k_stride;
  fill_tensor(t.v, t.v_stride, elements, 'v', problem.batch, problem.kv_heads, problem.kv_len, problem.head_dim, problem.io_type,
              options.fill, random);
  result.sm_scale = static_cast<float>(result.sm_scale);
  return result;
}

Errors compare(const Device& device, const Result& result, const Against against, const int every) {
  const device::Problem& p = result.problem;
  const reference::Inputs in = result.inputs();
  std::map<std::pair<int, int>, reference::QuantisedReference> quantised;
  Errors e;
  double difference = 0.0;
  double magnitude = 0.0;
  double squares = 0.0;
  double dot = 0.0;
  double own = 0.0;
  double other = 0.0;
  std::size_t count = 0;
  int seen = 0;
  for (int b = 0; b < p.batch; ++b) {
    for (int h = 0; h < p.q_heads; ++h) {
      for (int q = 0; q < p.q_len; ++q) {
        const std::size_t index =
            (static_cast<std::size_t>(b) * static_cast<std::size_t>(p.q_heads) + static_cast<std::size_t>(h)) *
                static_cast<std::size_t>(p.q_len) + static_cast<std::size_t>(q);
        if (!result.row_ran[index] || seen++ % every != 0) continue;
        reference::Row row;
        if (against == Against::exact) {
          row = reference::exact_row(in, b, h, q);
        } else {
          const int kv_head = h / (p.q_heads / p.kv_heads);
          auto at = quantised.find({b, kv_head});
          if (at == quantised.end()) {
            at = quantised
                     .emplace(std::piecewise_construct, std::forward_as_tuple(b, kv_head),
                              std::forward_as_tuple(in, b, kv_head, device.format(p.pv)))
                     .first;
          }
          row = at->second.row(h, q);
        }
        double row_difference = 0.0;
        double row_magnitude = 0.0;
        for (int d = 0; d < p.head_dim; ++d) {
          const double x = result.value(b, h, q, d);
          const double y = row.out[static_cast<std::size_t>(d)];
          if (!std::isfinite(x)) ++e.not_a_number;
          row_difference += std::fabs(x - y);
          row_magnitude += std::fabs(y);
          squares += (x - y) * (x - y);
          dot += x * y;
          own += x * x;
          other += y * y;
          ++count;
        }
        if (row_magnitude > 0.0) {
          e.worst_row = std::max(e.worst_row, row_difference / row_magnitude);
        } else if (row_difference > 0.0) {
          e.worst_row = HUGE_VAL;
        }
        difference += row_difference;
        magnitude += row_magnitude;
        if (p.want_lse) {
          const double lse = result.lse[index];
          const bool both_empty = std::isinf(row.lse) && std::isinf(lse) && lse < 0.0;
          const double error = both_empty ? 0.0 : std::fabs(lse - row.lse);
          if (std::isnan(error)) ++e.not_a_number;
          e.lse = std::max(e.lse, error);
        }
        ++e.rows;
      }
    }
  }
  e.relative_l1 = magnitude > 0.0 ? difference / magnitude : difference;
  e.rmse = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0.0;
  e.cosine = own > 0.0 && other > 0.0 ? dot / std::sqrt(own * other) : 1.0;
  return e;
}

std::string describe(const Errors& e) {
  char text[200];
  std::snprintf(text, sizeof(text), "rel L1 %.3e  RMSE %.3e  worst row %.3e  LSE %.3e  cosine %.6f  rows %d  NaN %d", e.relative_l1,
                e.rmse, e.worst_row, e.lse, e.cosine, e.rows, e.not_a_number);
  return text;
}

}  // namespace sage::trial
