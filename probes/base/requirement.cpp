#include "probes/base/requirement.hpp"

#include <algorithm>

#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

constexpr std::string_view plain_version = "0123456789.";

}  // namespace

std::string normalised_name(std::string_view name) {
  std::string result = to_lower(name);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  return result;
}

std::string needed_name(std::string_view requirement) {
  return normalised_name(requirement.substr(0, requirement.find_first_of(" [(<>=!~;@")));
}

std::optional<bool> meets_requirement(std::string_view requirement, std::string_view version) {
  const std::size_t equals = requirement.find("==");
  if (equals == std::string_view::npos || requirement.substr(equals, 3) == "===") return std::nullopt;
  std::string_view wanted = trim(requirement.substr(equals + 2));
  while (wanted.ends_with(')')) wanted = trim(wanted.substr(0, wanted.size() - 1));
  if (wanted.empty() || wanted.find_first_of(",<>!~= ") != std::string_view::npos) return std::nullopt;
  // Another clause before this one: "triton>=3,==3.5". Extras may hold commas.
  const std::string_view before = requirement.substr(0, equals);
  const std::size_t extras_end = before.rfind(']');
  const std::string_view clauses = extras_end == std::string_view::npos ? before : before.substr(extras_end);
  if (clauses.find_first_of(",<>!~@") != std::string_view::npos) return std::nullopt;

  const std::string_view public_part = version.substr(0, version.find('+'));
  if (wanted.ends_with(".*")) {
    const std::string_view prefix = wanted.substr(0, wanted.size() - 2);
    return public_part == prefix || public_part.starts_with(std::string(prefix) + ".");
  }
  const std::string_view compared = contains(wanted, "+") ? version : public_part;
  if (compared == wanted) return true;
  if (compared.find_first_not_of(plain_version) != std::string_view::npos ||
      wanted.find_first_not_of(plain_version) != std::string_view::npos) {
    return to_lower(compared) == to_lower(wanted);
  }
  const auto left = parse_version(compared);
  const auto right = parse_version(wanted);
  if (!left || !right) return std::nullopt;
  return *left == *right;
}

}  // namespace sage
