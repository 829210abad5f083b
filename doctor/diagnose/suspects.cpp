#include "doctor/diagnose/suspects.hpp"

#include <algorithm>
#include <array>

#include "doctor/messages/expression.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t widest_line = 200;
constexpr std::size_t widest_shape = 80;
constexpr std::size_t most_shapes = 1000;

/// "31 passed, 0 failed" has the words of a failure and is none.
bool says_that_all_is_well(std::string_view line) {
  constexpr auto phrases =
      std::to_array<std::string_view>({" 0 fail", " 0 error", "no error", "without error", "errors: 0", "failed: 0",
                                       "failed=0", "-- looking for", "... not found"});
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view phrase) { return contains_ignoring_case(line, phrase); });
}

}  // namespace

const std::vector<std::string>& Suspects::words() {
  static const std::vector<std::string> words = {
      // Not "error" alone: -Werror stands in every command of a build.
      "error:",  " error",    "[error",  "failed",      "failure",  "fatal",       "exception", "cannot",
      "can't",   "undefined", "denied",  "not found",   "aborted",  "core dumped", "fault",     "killed",
      "no such", "unable to", "invalid", "unsupported", "mismatch", "refused",     "missing"};
  return words;
}

bool Suspects::is_new(std::string_view line) {
  if (shapes_.size() >= most_shapes) return false;
  std::uint64_t shape = 14695981039346656037u;  // FNV-1a: this runs for a good part of the lines of a long log
  for (const char c : line.substr(0, widest_shape)) {
    if (c < '0' || c > '9') shape = (shape ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return shapes_.insert(shape).second;
}

void Suspects::add(std::uint64_t number, std::string_view line) {
  if (!is_new(line) || says_that_all_is_well(line)) return;
  if (first_.size() < most_first) {
    first_.push_back({number, shortened(line, widest_line)});
    return;
  }
  last_.push_back({number, shortened(line, widest_line)});
  if (last_.size() > most_last) last_.pop_front();
}

void Suspects::add_exception(std::uint64_t number, std::string_view line) {
  if (exceptions_.size() < most_exceptions && is_new(line))
    exceptions_.push_back({number, shortened(line, widest_line)});
}

void Suspects::add_plain(std::uint64_t number, std::string_view line) {
  if (wants_plain() && !trim(line).empty()) plain_.push_back({number, shortened(line, widest_line)});
}

std::vector<NumberedLine> Suspects::all() const {
  if (only_plain()) return plain_;
  std::vector<NumberedLine> lines = exceptions_;
  lines.insert(lines.end(), first_.begin(), first_.end());
  lines.insert(lines.end(), last_.begin(), last_.end());
  return lines;
}

}  // namespace sage
