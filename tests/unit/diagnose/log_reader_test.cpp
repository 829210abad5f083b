#include "doctor/diagnose/log_reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace sage {
namespace {

struct Line {
  std::uint64_t number;
  std::string text;
  friend bool operator==(const Line&, const Line&) = default;
};

/// Gives a text in pieces of `chunk` bytes.
LogSource source_of(const std::string& text, std::size_t chunk) {
  return [text, chunk, at = std::size_t{0}](char* into, std::size_t size) mutable -> Result<std::size_t> {
    const std::size_t count = std::min({chunk, size, text.size() - at});
    std::memcpy(into, text.data() + at, count);
    at += count;
    return count;
  };
}

std::vector<Line> read_all(LogReader& reader) {
  std::vector<Line> lines;
  LogLine line;
  while (reader.next(line)) lines.push_back({line.number, std::string(line.text)});
  return lines;
}

std::vector<Line> read_all(const std::string& text, std::size_t chunk = 1 << 20) {
  LogReader reader(source_of(text, chunk));
  return read_all(reader);
}

std::string utf16(const std::u16string& text, bool big) {
  std::string bytes;
  for (const char16_t unit : text) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xff);
    bytes += big ? high : low;
    bytes += big ? low : high;
  }
  return bytes;
}

}  // namespace

TEST_CASE("log reader: lines with their numbers, however the bytes come") {
  const std::vector<Line> expected = {{1, "one"}, {2, ""}, {3, "three\r"}, {4, "no end"}};
  for (const std::size_t chunk : {1u, 2u, 3u, 5u, 1000u}) {
    CHECK(read_all("one\n\nthree\r\nno end", chunk) == expected);
  }
  CHECK(read_all("").empty());
  CHECK(read_all("\n") == std::vector<Line>{{1, ""}});
}

TEST_CASE("log reader: it counts what it read") {
  LogReader reader(source_of("a\nb\nc", 2));
  CHECK(read_all(reader).size() == 3);
  CHECK(reader.lines() == 3);
  CHECK(reader.bytes() == 5);
  CHECK(reader.first_bytes() == "a\nb\nc");
  CHECK_FALSE(reader.error());
}

TEST_CASE("log reader: a line that is too long comes in pieces that overlap, and nothing of it is lost") {
  std::string text(3 * LogReader::longest_piece + 100, '.');
  // Across the end of the first piece.
  text.replace(LogReader::longest_piece - 3, 6, "needle");
  for (const std::size_t chunk : {std::size_t{7001}, text.size()}) {
    const std::vector<Line> lines = read_all("first\n" + text + "\nlast\n", chunk);
    REQUIRE(lines.size() > 4);
    CHECK(lines.front() == Line{1, "first"});
    CHECK(lines.back() == Line{3, "last"});
    std::size_t bytes = 0;
    bool found = false;
    for (const Line& line : lines) {
      CHECK(line.text.size() <= LogReader::longest_piece);
      found = found || line.text.find("needle") != std::string::npos;
      if (line.number == 2) bytes += line.text.size();
    }
    const std::size_t pieces = lines.size() - 2;
    CHECK(bytes == text.size() + (pieces - 1) * LogReader::overlap);
    CHECK(found);
  }
}

TEST_CASE("log reader: a long line without an end is the last") {
  LogReader reader(source_of(std::string(10 * LogReader::longest_piece, 'x'), 4096));
  const std::vector<Line> lines = read_all(reader);
  CHECK(lines.size() > 9);
  CHECK(std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.number == 1; }));
  CHECK(reader.lines() == 1);
}

TEST_CASE("log reader: UTF-16 of either order, with and without a mark, in any pieces") {
  const std::u16string words =
      u"Traceback: na\u00efve \u4f60\u597d \U0001f600\u010a\r\nsecond line, long enough for a guess\n";
  const std::vector<Line> expected = {{1, "Traceback: na\u00efve \u4f60\u597d \U0001f600\u010a\r"},
                                      {2, "second line, long enough for a guess"}};
  for (const bool big : {false, true}) {
    for (const bool mark : {false, true}) {
      const std::string bytes = utf16((mark ? u"\ufeff" : u"") + words, big);
      for (const std::size_t chunk : {1u, 3u, 4096u}) {
        LogReader reader(source_of(bytes, chunk));
        CHECK(read_all(reader) == expected);
        CHECK(reader.encoding() == (big ? TextEncoding::utf16_be : TextEncoding::utf16_le));
        CHECK(reader.bytes() == bytes.size());
      }
    }
  }
}

TEST_CASE("log reader: UTF-16 that is broken off or has half a pair") {
  std::string bytes = utf16(
      u"\ufeff"
      u"ab",
      false);
  bytes += utf16(std::u16string(1, static_cast<char16_t>(0xd83d)) + u"c", false) + "x";
  CHECK(read_all(bytes) == std::vector<Line>{{1, "ab\ufffdc\ufffd"}});
}

TEST_CASE("log reader: NULs alone make no UTF-16, and the mark of UTF-8 is no text") {
  LogReader binary(source_of(std::string(2000, '\0') + "\n" + std::string(100, 'a'), 512));
  CHECK(read_all(binary).size() == 2);
  CHECK(binary.encoding() == TextEncoding::utf8);
  CHECK(read_all("\xef\xbb\xbfone\n") == std::vector<Line>{{1, "one"}});
}

TEST_CASE("log reader: an error ends it and is kept; what came before is given") {
  int calls = 0;
  LogReader reader([&](char* into, std::size_t) -> Result<std::size_t> {
    if (++calls > 1) return Error{EIO, "input/output error"};
    std::memcpy(into, "a\nb", 3);
    return std::size_t{3};
  });
  CHECK(read_all(reader) == std::vector<Line>{{1, "a"}, {2, "b"}});
  REQUIRE(reader.error());
  CHECK(reader.error()->number == EIO);
}

}  // namespace sage
