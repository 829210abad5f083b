#include <doctest/doctest.h>

#include <algorithm>

#include "probes/host/host.hpp"

namespace sage {

TEST_CASE("every listed variable is allowed and the list is sorted") {
  const auto& names = allowed_environment_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  for (const std::string& name : names) CHECK_MESSAGE(environment_allowed(name), name);
  for (const std::string name :
       {"HSA_OVERRIDE_GFX_VERSION", "HSA_ENABLE_DXG_DETECTION", "LD_LIBRARY_PATH", "container"}) {
    CHECK_MESSAGE(std::find(names.begin(), names.end(), name) != names.end(), name);
  }
}

TEST_CASE("the override of one node is allowed by its number") {
  CHECK(environment_allowed("HSA_OVERRIDE_GFX_VERSION_0"));
  CHECK(environment_allowed("HSA_OVERRIDE_GFX_VERSION_17"));
  CHECK_FALSE(environment_allowed("HSA_OVERRIDE_GFX_VERSION_"));
  CHECK_FALSE(environment_allowed("HSA_OVERRIDE_GFX_VERSION_1a"));
  CHECK_FALSE(environment_allowed("HSA_OVERRIDE_GFX_VERSIONS"));
}

TEST_CASE("nothing else is allowed") {
  for (const std::string name :
       {"", "PAT", "PATHS", "path", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "SUDO_COMMAND", "USER"}) {
    CHECK_MESSAGE(!environment_allowed(name), name);
  }
}

}  // namespace sage
