#include "doctor/diagnose/traceback.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "doctor/messages/expression.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t most_frames = 2;
/// RecursionError prints some thousand frames as a few and a count; a longer traceback has been cut off.
constexpr std::size_t most_lines = 600;
constexpr std::uint64_t longest_message = 8;  ///< in lines
constexpr std::size_t widest_frame = 200;
constexpr std::string_view first_words = "Traceback (most recent call last)";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The same characters, but any digit for a digit: the time goes on.
bool like(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return x == y || (is_digit(x) && is_digit(y)); });
}

bool is_indented(std::string_view line) {
  return line.starts_with(' ') || line.starts_with('\t');
}

/// "RuntimeError: ...", "torch.OutOfMemoryError: ...", "KeyboardInterrupt": a dotted name, alone or before a colon.
bool is_exception(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  return !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_') &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; });
}

}  // namespace

TracebackPart TracebackFollower::look_at(std::uint64_t number, std::string_view line) {
  if (const std::size_t at = line.find(first_words); at != std::string_view::npos) {
    inside_ = true;
    prefix_ = line.substr(0, at);
    lines_ = 0;
    frames_.clear();
    return TracebackPart::frame;
  }
  if (!inside_) return TracebackPart::none;
  if (++lines_ > most_lines) inside_ = false;

  const std::string_view own = without_prefix(line);
  if (is_indented(own)) {
    const std::string_view text = trim(own);
    if (text.starts_with("File \"")) {
      frames_.push_back({number, shortened(text, widest_frame)});
      if (frames_.size() > most_frames) frames_.pop_front();
    }
    return TracebackPart::frame;
  }
  if (!is_exception(own)) return TracebackPart::none;  // another process spoke in between
  inside_ = false;
  exception_ = number;
  return TracebackPart::exception;
}

bool TracebackFollower::continues_message(std::uint64_t number) const {
  return !inside_ && exception_ != 0 && number < exception_ + longest_message;
}

std::string_view TracebackFollower::without_prefix(std::string_view line) const {
  if (line.size() >= prefix_.size() && like(line.substr(0, prefix_.size()), prefix_))
    line.remove_prefix(prefix_.size());
  return line;
}

}  // namespace sage
