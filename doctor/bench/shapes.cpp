#include "doctor/bench/shapes.hpp"

#include <algorithm>

#include "probes/base/text.hpp"

namespace sage {
namespace {

using device::PvType;

constexpr std::uint32_t usual_batch = 4;
constexpr std::uint32_t usual_heads = 32;
constexpr std::uint32_t largest_extent = 1u << 20;

template <class T>
std::vector<T> or_usual(const std::vector<T>& asked, std::vector<T> usual) {
  return asked.empty() ? std::move(usual) : asked;
}

std::string pv_name(PvType pv) {
  return pv == PvType::fp8 ? "fp8" : "f16";
}

}  // namespace

std::vector<BenchCase> bench_cases(const BenchWish& wish, bool fp8) {
  std::vector<BenchCase> cases;
  for (const std::string& pv : or_usual(wish.pv, {"f16", "fp8"})) {
    const PvType type = pv == "fp8" ? PvType::fp8 : PvType::f16;
    if (type == PvType::fp8 && !fp8) continue;
    for (const std::uint32_t dim : or_usual(wish.head_dims, {64u, 128u})) {
      for (const std::string& mask : or_usual(wish.masks, {"dense", "causal"})) {
        for (const std::uint32_t tokens : or_usual(wish.tokens, {1024u, 2048u, 4096u, 8192u, 16384u})) {
          const std::uint32_t batch = wish.batch > 0 ? wish.batch : usual_batch;
          const std::uint32_t heads = wish.heads > 0 ? wish.heads : usual_heads;
          cases.push_back({{batch, heads, tokens, dim, mask == "causal"}, type});
        }
      }
    }
  }
  return cases;
}

std::string contender_of(PvType pv) {
  return "sage " + pv_name(pv);
}

device::Problem problem_of(const BenchCase& what) {
  device::Problem problem;
  problem.batch = static_cast<int>(what.shape.batch);
  problem.q_heads = problem.kv_heads = static_cast<int>(what.shape.heads);
  problem.q_len = problem.kv_len = static_cast<int>(what.shape.tokens);
  problem.head_dim = static_cast<int>(what.shape.head_dim);
  problem.mask = what.shape.causal ? SAGE_MASK_CAUSAL_TOP_LEFT : SAGE_MASK_NONE;
  problem.pv = what.pv;
  return problem;
}

std::string case_text(const BenchCase& what) {
  const BenchShape& s = what.shape;
  return std::to_string(s.batch) + "x" + std::to_string(s.heads) + "x" + std::to_string(s.tokens) + "x" +
         std::to_string(s.head_dim) + (s.causal ? " causal " : " dense ") + pv_name(what.pv);
}

Result<BenchCase> case_from_text(std::string_view text) {
  const Error wrong{0, "'" + std::string(text) + "' is no shape such as '4x32x8192x128 dense f16'"};
  const std::vector<std::string_view> parts = words(text);
  if (parts.size() != 3) return wrong;
  const std::vector<std::string_view> extents = split(parts[0], 'x');
  if (extents.size() != 4) return wrong;
  std::array<std::uint32_t, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_number(extents[i]);
    if (!number || *number == 0 || *number > largest_extent) return wrong;
    numbers[i] = static_cast<std::uint32_t>(*number);
  }
  if (parts[1] != "dense" && parts[1] != "causal") return wrong;
  if (parts[2] != "f16" && parts[2] != "fp8") return wrong;
  if (device::padded_head_dim(static_cast<int>(numbers[3])) == 0) return wrong;
  return BenchCase{{numbers[0], numbers[1], numbers[2], numbers[3], parts[1] == "causal"},
                   parts[2] == "fp8" ? PvType::fp8 : PvType::f16};
}

}  // namespace sage
