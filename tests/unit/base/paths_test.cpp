#include "probes/base/paths.hpp"

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("only paths that stay below their start are safe") {
  CHECK(safe_relative_path("kernels/gfx1201-x.hsaco"));
  CHECK(safe_relative_path("..."));
  for (const std::string_view bad : {"", "/etc/passwd", "a//b", "a/", "../a", "a/../b", "./a", "a\nb"}) {
    CHECK_MESSAGE(!safe_relative_path(bad), bad);
  }
  CHECK_FALSE(safe_relative_path(std::string("a\0b", 3)));
}

}  // namespace sage
