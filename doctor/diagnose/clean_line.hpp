#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// Takes from lines what hides their words: escape sequences of terminals, NUL and other control characters, invisible
/// characters. Backspaces are carried out, typographic quotes become ' and ". Bytes that are no UTF-8 stay.
class LineCleaner {
 public:
  /// The parts between carriage returns (a progress bar writes many over each other); empty ones are left out. Valid
  /// until the next call, and as long as `line`.
  [[nodiscard]] std::span<const std::string_view> parts(std::string_view line);

 private:
  void clean(std::string_view line);

  std::string clean_;
  std::vector<std::string_view> parts_;
};

}  // namespace sage
