#include "probes/base/text_template.hpp"

#include <doctest/doctest.h>

namespace sage {
namespace {

TEST_CASE("a template is filled once, and what comes in is not looked at again") {
  const TextTemplate parts("ignored\n@@a\nx @ONE@ y@b.c @TWO@\n@EMPTY@\n\n@@b\nend\n");
  CHECK(parts.fill("a", {{"ONE", "@TWO@"}, {"TWO", "2"}, {"EMPTY", ""}}) == "x @TWO@ y@b.c 2\n\n");
  CHECK(parts.fill("a", {}) == "x @ONE@ y@b.c @TWO@\n@EMPTY@\n\n");
  CHECK(parts.fill("b", {}) == "end\n");
  CHECK(parts.fill("none", {}) == "");
}

}  // namespace
}  // namespace sage
