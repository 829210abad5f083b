#include "probes/base/nearest.hpp"

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("the nearest name is one that a person may have meant") {
  CHECK(nearest("serach", {"ignore", "search", "target"}) == "search");
  CHECK(nearest("xyz", {"ignore", "search", "target"}).empty());
  CHECK(nearest("", {"ignore"}).empty());
  CHECK(nearest(std::string(1000, 'a'), {"a"}).empty());
}

}  // namespace sage
