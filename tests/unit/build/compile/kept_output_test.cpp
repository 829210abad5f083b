#include "doctor/build/compile/kept_output.hpp"

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("short output is kept as it is, in whatever pieces it comes") {
  KeptOutput kept(4);
  for (const char* piece : {"a", "bcd", "ef", "", "gh"}) kept.add(piece);
  CHECK(kept.text() == "abcdefgh");
  CHECK(kept.total() == 8);
}

TEST_CASE("of long output both ends are kept, and how much is missing is said") {
  KeptOutput one_piece(4);
  one_piece.add("abcd123456789wxyz");
  CHECK(one_piece.text() == "abcd\n[... 9 bytes left out ...]\nwxyz");

  KeptOutput many(4);
  many.add("abcd");
  for (int i = 0; i < 1000; ++i) many.add("123");
  many.add("wxyz");
  CHECK(many.text() == "abcd\n[... 3000 bytes left out ...]\nwxyz");
  CHECK(many.total() == 3008);
}

}  // namespace sage
