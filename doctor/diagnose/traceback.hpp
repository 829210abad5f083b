#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// A line of a log by its number, shortened and printable.
struct NumberedLine {
  std::uint64_t number = 0;
  std::string text;
};

/// What a line is to a Python traceback.
enum class TracebackPart { none, frame, exception };

/// Follows Python tracebacks through a log, line by line. What stands before "Traceback" (a time stamp, a container's
/// name) is expected before its other lines too.
class TracebackFollower {
 public:
  /// Every traceback begins with a line that has this, in lower case.
  static constexpr std::string_view beginning = "traceback (most recent call last)";

  [[nodiscard]] bool inside() const { return inside_; }

  /// To be shown the lines from a beginning on, as long as inside().
  [[nodiscard]] TracebackPart look_at(std::uint64_t number, std::string_view line);

  /// Whether a line may belong to the message of the last exception, which can have several lines.
  [[nodiscard]] bool continues_message(std::uint64_t number) const;

  /// After an exception: the innermost frames ("File ..., line 3, in f"), the last call last.
  [[nodiscard]] std::vector<NumberedLine> last_frames() const { return {frames_.begin(), frames_.end()}; }

 private:
  [[nodiscard]] std::string_view without_prefix(std::string_view line) const;

  bool inside_ = false;
  std::string prefix_;
  std::size_t lines_ = 0;
  std::uint64_t exception_ = 0;  ///< line of the last one
  std::deque<NumberedLine> frames_;
};

}  // namespace sage
