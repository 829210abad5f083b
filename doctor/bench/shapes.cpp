#include "doctor/bench/shapes.hpp"

#include <algorithm>
#include <array>

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

/// No multiple of any tile's queries and keys: one token short of one, and 35 beyond one.
constexpr std::uint32_t tails[] = {1, 93};

std::vector<BenchShape> shapes_like(const BenchShape& plain, const std::string& form) {
  BenchShape shape = plain;
  if (form == "gqa") {
    constexpr std::uint32_t group = 4;
    if (plain.heads % group != 0) return {};
    shape.kv_heads = plain.heads / group;
  } else if (form == "cross") {
    if (plain.causal || plain.tokens % 2 != 0) return {};
    shape.tokens = plain.tokens / 2;
    shape.kv_tokens = plain.tokens * 2;
  } else if (form == "tail") {
    std::vector<BenchShape> all;
    for (const std::uint32_t less : tails) {
      if (plain.tokens <= less) continue;
      shape.tokens = shape.kv_tokens = plain.tokens - less;
      all.push_back(shape);
    }
    return all;
  }
  return {shape};
}

/// "32", or "32/8" where the second is another.
std::string two(std::uint32_t first, char between, std::uint32_t second) {
  return std::to_string(first) + (first == second ? "" : between + std::to_string(second));
}

/// The inverse; {0, 0} for what is none.
std::array<std::uint32_t, 2> read_two(std::string_view text, char between) {
  std::array<std::uint32_t, 2> numbers{};
  const std::vector<std::string_view> parts = split(text, between);
  if (parts.empty() || parts.size() > 2) return {};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_number(parts[std::min(i, parts.size() - 1)]);
    if (!number || *number == 0 || *number > largest_extent) return {};
    numbers[i] = static_cast<std::uint32_t>(*number);
  }
  return numbers;
}

std::string pv_name(PvType pv) {
  return pv == PvType::fp8 ? "fp8" : "f16";
}

}  // namespace

bool BenchCase::is_plain_of(const BenchCase& other) const {
  return form == BenchForm::plain && pv == other.pv && shape.batch == other.shape.batch &&
         shape.heads == other.shape.heads && shape.tokens == other.plain_tokens &&
         shape.head_dim == other.shape.head_dim && shape.causal == other.shape.causal;
}

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
          const BenchShape plain = plain_shape(batch, heads, tokens, dim, mask == "causal");
          for (const std::string& form : or_usual(wish.shapes, {"plain"})) {
            for (const BenchShape& shape : shapes_like(plain, form))
              cases.push_back({shape, type, *enum_from_name<BenchForm>(form), tokens});
          }
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
  problem.q_heads = static_cast<int>(what.shape.heads);
  problem.kv_heads = static_cast<int>(what.shape.kv_heads);
  problem.q_len = static_cast<int>(what.shape.tokens);
  problem.kv_len = static_cast<int>(what.shape.kv_tokens);
  problem.head_dim = static_cast<int>(what.shape.head_dim);
  problem.mask = what.shape.causal ? SAGE_MASK_CAUSAL_TOP_LEFT : SAGE_MASK_NONE;
  problem.pv = what.pv;
  return problem;
}

std::string case_text(const BenchCase& what) {
  const BenchShape& s = what.shape;
  return std::to_string(s.batch) + "x" + two(s.heads, '/', s.kv_heads) + "x" + two(s.tokens, ':', s.kv_tokens) + "x" +
         std::to_string(s.head_dim) + (s.causal ? " causal " : " dense ") + pv_name(what.pv);
}

Result<BenchCase> case_from_text(std::string_view text) {
  const Error wrong{0, "'" + std::string(text) + "' is no shape such as '4x32x8192x128 dense f16'"};
  const std::vector<std::string_view> parts = words(text);
  if (parts.size() != 3) return wrong;
  const std::vector<std::string_view> extents = split(parts[0], 'x');
  if (extents.size() != 4) return wrong;
  // Only heads and tokens may have a second number: no character is between two others.
  const auto [batch, same_batch] = read_two(extents[0], ' ');
  const auto [heads, kv_heads] = read_two(extents[1], '/');
  const auto [tokens, kv_tokens] = read_two(extents[2], ':');
  const auto [head_dim, same_dim] = read_two(extents[3], ' ');
  if (batch == 0 || heads == 0 || tokens == 0 || head_dim == 0 || heads % kv_heads != 0) return wrong;
  if (parts[1] != "dense" && parts[1] != "causal") return wrong;
  if (parts[2] != "f16" && parts[2] != "fp8") return wrong;
  if (device::padded_head_dim(static_cast<int>(head_dim)) == 0) return wrong;
  BenchCase read;
  read.shape = {batch, heads, kv_heads, tokens, kv_tokens, head_dim, parts[1] == "causal", {}};
  read.pv = parts[2] == "fp8" ? PvType::fp8 : PvType::f16;
  return read;
}

}  // namespace sage
