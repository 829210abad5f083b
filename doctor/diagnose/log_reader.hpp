#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/diagnose/utf16.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// Writes up to `size` further bytes of the log to `into` and gives their number; 0 at the end.
using LogSource = std::function<Result<std::size_t>(char* into, std::size_t size)>;

/// A line, or a piece of a long one.
struct LogLine {
  std::uint64_t number = 0;  ///< from 1
  std::string_view text;     ///< whatever bytes stood there, without the line end; valid until the next call
};

/// Cuts a log of any size into lines, with a fixed amount of memory. A line longer than longest_piece comes in pieces
/// with the same number; each begins with the last `overlap` bytes of the one before, so that no message is cut in two.
class LogReader {
 public:
  static constexpr std::size_t longest_piece = 64 * 1024;
  static constexpr std::size_t overlap = 4 * 1024;

  explicit LogReader(LogSource source);

  /// False at the end, and when reading failed.
  [[nodiscard]] bool next(LogLine& line);

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// So far.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] TextEncoding encoding() const { return decoder_.encoding(); }
  /// The first bytes as they came: they tell a log from a compressed one.
  [[nodiscard]] std::string_view first_bytes() const { return first_bytes_; }

 private:
  [[nodiscard]] bool give(std::size_t end, std::size_t next_begin, LogLine& line);
  [[nodiscard]] std::size_t read(char* into, std::size_t size);
  void begin_reading();
  void refill();

  LogSource source_;
  Utf16Decoder decoder_;
  std::vector<char> raw_;  ///< of UTF-16, before it is decoded
  std::vector<char> buffer_;
  std::size_t begin_ = 0;    ///< of the line that comes next
  std::size_t scanned_ = 0;  ///< no line end stands between begin_ and here
  std::size_t end_ = 0;
  bool started_ = false;
  bool at_end_ = false;
  std::uint64_t number_ = 1;
  std::uint64_t lines_ = 0;
  std::uint64_t bytes_ = 0;
  std::string first_bytes_;
  std::optional<Error> error_;
};

}  // namespace sage
