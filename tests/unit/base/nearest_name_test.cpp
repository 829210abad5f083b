#include "probes/base/nearest_name.hpp"

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("the nearest name is the one a slip of the finger away") {
  const std::vector<std::string_view> keys = {"extends", "delete", "process", "environment"};
  CHECK(nearest_name("extend", keys) == "extends");
  CHECK(nearest_name("enviroment", keys) == "environment");
  CHECK(nearest_name("proces", keys) == "process");
  CHECK(nearest_name("kernel", keys).empty());
  CHECK(nearest_name("", keys).empty());
  CHECK(nearest_name(std::string(100000, 'x'), keys).empty());
}

}  // namespace sage
