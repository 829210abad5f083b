#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace sage {

/// The one table that names the values of an enum, in JSON, captures and reports alike. Specialise it beside the enum:
///   template <> inline constexpr auto enum_names<Kind> = std::to_array<EnumName<Kind>>({{Kind::a, "a"}, ...});
template <class E>
using EnumName = std::pair<E, std::string_view>;

template <class E>
inline constexpr int enum_names = 0;

template <class E>
[[nodiscard]] constexpr std::string_view enum_name(E value) {
  for (const auto& [candidate, name] : enum_names<E>) {
    if (candidate == value) return name;
  }
  return "?";
}

template <class E>
[[nodiscard]] constexpr std::optional<E> enum_from_name(std::string_view name) {
  for (const auto& [candidate, candidate_name] : enum_names<E>) {
    if (candidate_name == name) return candidate;
  }
  return std::nullopt;
}

}  // namespace sage
