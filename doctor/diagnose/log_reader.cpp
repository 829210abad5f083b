#include "doctor/diagnose/log_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sage {
namespace {

constexpr std::size_t block = 256 * 1024;
constexpr std::size_t enough_to_know_the_encoding = 4096;
constexpr std::size_t kept_first_bytes = 8;
constexpr std::string_view utf8_mark = "\xef\xbb\xbf";  // the byte order mark, also of decoded UTF-16

}  // namespace

LogReader::LogReader(LogSource source) : source_(std::move(source)), buffer_(longest_piece + 2 * block) {}

bool LogReader::next(LogLine& line) {
  if (!started_) begin_reading();
  while (true) {
    const auto* found = static_cast<const char*>(std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_));
    scanned_ = found == nullptr ? end_ : static_cast<std::size_t>(found - buffer_.data());
    if (scanned_ - begin_ > longest_piece) return give(begin_ + longest_piece, begin_ + longest_piece - overlap, line);
    if (found != nullptr) {
      const std::size_t end = scanned_++;
      ++lines_;
      const bool given = give(end, scanned_, line);
      ++number_;
      return given;
    }
    if (at_end_) break;
    refill();
  }
  if (begin_ == end_) return false;
  ++lines_;
  return give(end_, end_, line);
}

bool LogReader::give(std::size_t end, std::size_t next_begin, LogLine& line) {
  line.number = number_;
  line.text = {buffer_.data() + begin_, end - begin_};
  begin_ = next_begin;
  return true;
}

std::size_t LogReader::read(char* into, std::size_t size) {
  const Result<std::size_t> got = source_(into, size);
  if (!got.ok()) error_ = got.error();
  at_end_ = !got.ok() || *got == 0;
  if (at_end_) return 0;
  bytes_ += *got;
  return *got;
}

void LogReader::begin_reading() {
  started_ = true;
  while (end_ < enough_to_know_the_encoding && !at_end_) end_ += read(buffer_.data() + end_, block - end_);
  const std::string_view beginning(buffer_.data(), end_);
  first_bytes_ = beginning.substr(0, kept_first_bytes);
  decoder_.set_encoding(encoding_of(beginning));
  if (decoder_.encoding() != TextEncoding::utf8) {
    const std::string bytes(beginning);
    raw_.resize(block / 2);
    end_ = decoder_.decode(bytes, at_end_, buffer_.data());
  }
  if (std::string_view(buffer_.data(), end_).starts_with(utf8_mark)) begin_ = scanned_ = utf8_mark.size();
}

void LogReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  scanned_ -= begin_;
  begin_ = 0;
  if (decoder_.encoding() == TextEncoding::utf8) {
    end_ += read(buffer_.data() + end_, buffer_.size() - end_);
    return;
  }
  const std::size_t got = read(raw_.data(), raw_.size());
  end_ += decoder_.decode({raw_.data(), got}, at_end_, buffer_.data() + end_);
}

}  // namespace sage
