#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "doctor/diagnose/traceback.hpp"

namespace sage {

/// Lines of a log that no rule knows and that look like a failure: what is shown, and guessed from, where nothing is
/// known. The first and the last few are kept.
class Suspects {
 public:
  static constexpr std::size_t most_first = 20;
  static constexpr std::size_t most_last = 20;

  /// What makes a line suspect, in lower case.
  [[nodiscard]] static const std::vector<std::string>& words();

  void add(std::uint64_t number, std::string_view line);
  /// The last line of a traceback, which tells more than the others.
  void add_exception(std::uint64_t number, std::string_view line);
  /// Any line at all: kept where nothing is suspect.
  void add_plain(std::uint64_t number, std::string_view line);

  [[nodiscard]] std::vector<NumberedLine> exceptions() const { return exceptions_; }
  /// Exceptions first, then the others from the first line on; plain ones where there is nothing else.
  [[nodiscard]] std::vector<NumberedLine> all() const;
  [[nodiscard]] bool only_plain() const { return exceptions_.empty() && first_.empty(); }
  [[nodiscard]] bool wants_plain() const { return plain_.size() < most_plain; }

 private:
  static constexpr std::size_t most_plain = 10;
  static constexpr std::size_t most_exceptions = 10;

  [[nodiscard]] bool is_new(std::string_view line);

  std::unordered_set<std::uint64_t> shapes_;  ///< hashes of lines without their digits
  std::vector<NumberedLine> exceptions_;
  std::vector<NumberedLine> first_;
  std::deque<NumberedLine> last_;
  std::vector<NumberedLine> plain_;
};

}  // namespace sage
