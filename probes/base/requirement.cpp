#include "probes/base/requirement.hpp"

#include <algorithm>

#include "probes/base/text.hpp"

namespace sage {

std::string normalised_name(std::string_view name) {
  std::string result = to_lower(name);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  return result;
}

std::string needed_name(std::string_view requirement) {
  return normalised_name(requirement.substr(0, requirement.find_first_of(" [(<>=!~;@")));
}

}  // namespace sage
