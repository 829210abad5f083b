#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// Finds which of many literals stand in a text, in one pass and one table look-up a byte (Aho and Corasick 1975, as a
/// complete automaton). ASCII letters are the same in both cases. Fast where the literals are short against the text.
class LiteralFinder {
 public:
  /// Literals are in lower case and not empty.
  explicit LiteralFinder(const std::vector<std::string>& literals);

  /// The numbers of those that occur, each once, in no order. Valid until the next call.
  [[nodiscard]] const std::vector<int>& find(std::string_view text);

 private:
  static constexpr std::size_t lanes = 4;

  [[nodiscard]] std::uint32_t next(std::uint32_t at, char c) const {
    return next_.data()[at + class_of_[static_cast<unsigned char>(c)]];
  }
  void walk(std::string_view text, std::uint32_t at);
  void walk_in_parts(std::string_view text, std::size_t part);
  void take(std::uint32_t state);

  std::array<std::uint8_t, 256> class_of_{};
  std::size_t longest_ = 1;                 ///< literal
  std::size_t classes_ = 1;                 ///< class 0: bytes that no literal has
  std::vector<std::uint32_t> next_;         ///< [state of `classes_` entries]: where the next state's entries begin
  std::uint32_t first_end_ = 0;             ///< states from here on end a literal
  std::vector<std::vector<int>> found_in_;  ///< by state: the literals that end there
  std::vector<std::uint32_t> last_round_;   ///< by literal: the call in which it was found last
  std::uint32_t round_ = 0;
  std::vector<int> found_;
};

}  // namespace sage
