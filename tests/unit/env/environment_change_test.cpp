#include "doctor/env/environment_change.hpp"

#include <doctest/doctest.h>

namespace sage {
namespace {

EnvPlan plan_of(std::vector<EnvSetting> settings, bool force = false) {
  EnvPlan plan;
  plan.mark = "sage-doctor-env/1";
  plan.force = force;
  plan.settings = std::move(settings);
  return plan;
}

const EnvSetting rocm_path = {"ROCM_PATH", SettingKind::set, {"/opt/rocm"}, "", {}};
const EnvSetting path = {"PATH", SettingKind::prepend, {"/a/bin", "/b/bin"}, "", {}};
const EnvSetting libraries = {"LD_LIBRARY_PATH", SettingKind::prepend, {"/lib1"}, "", {}};

}  // namespace

TEST_CASE("folders go in front, the foremost first, and leave no empty element") {
  const EnvironmentValues after = activated({{"PATH", "/usr/bin"}, {"LD_LIBRARY_PATH", ""}}, plan_of({path, libraries}));
  CHECK(after.at("PATH") == "/a/bin:/b/bin:/usr/bin");
  CHECK(after.at("LD_LIBRARY_PATH") == "/lib1");
}

TEST_CASE("whatever the environment was, it comes back") {
  for (const char* list : {"", ":", "/usr/bin", "/usr/bin:", ":/usr/bin", "/a/bin", "/a/bin:/b/bin", "/x::/y", "/b/bin:/a/bin"}) {
    for (const bool force : {false, true}) {
      const EnvironmentValues before = {{"PATH", list}, {"LD_LIBRARY_PATH", list}, {"ROCM_PATH", list}, {"OTHER", "x"}};
      CAPTURE(list);
      const EnvironmentValues once = activated(before, plan_of({rocm_path, path, libraries}, force));
      CHECK(activated(once, plan_of({rocm_path, path, libraries}, force)) == once);
      CHECK(deactivated(once) == before);
    }
  }
  const EnvironmentValues none = {};
  CHECK(deactivated(activated(none, plan_of({rocm_path, path, libraries}))) == none);
}

TEST_CASE("a value of the user's own stays unless it is forced") {
  const EnvironmentValues own = {{"ROCM_PATH", "/mine"}};
  CHECK(activated(own, plan_of({rocm_path})).at("ROCM_PATH") == "/mine");
  CHECK(activated(own, plan_of({rocm_path}, true)).at("ROCM_PATH") == "/opt/rocm");
  EnvSetting told = rocm_path;
  told.kept = "/mine";
  CHECK(activated({}, plan_of({told})).count("ROCM_PATH") == 0);
}

TEST_CASE("another plan takes the settings of the first one back") {
  const EnvironmentValues first = activated({{"PATH", "/usr/bin"}}, plan_of({rocm_path, path}));
  const EnvironmentValues second = activated(first, plan_of({libraries}));
  CHECK(second.at("PATH") == "/usr/bin");
  CHECK(second.count("ROCM_PATH") == 0);
  CHECK(second.at("LD_LIBRARY_PATH") == "/lib1");
}

TEST_CASE("what was changed since is left alone") {
  EnvironmentValues values = activated({{"PATH", "/usr/bin"}}, plan_of({rocm_path, path, libraries}));
  values["ROCM_PATH"] = "/changed";
  values["PATH"] = "/new:" + values["PATH"] + ":/last";
  values.erase("LD_LIBRARY_PATH");
  CHECK(deactivated(values) == EnvironmentValues{{"PATH", "/new:/usr/bin:/last"}, {"ROCM_PATH", "/changed"}});
}

TEST_CASE("an environment without notes does not change") {
  const EnvironmentValues values = {{"PATH", "::"}, {"SAGE_DOCTOR_ENV_NAMES", ""}};
  CHECK(deactivated(values) == EnvironmentValues{{"PATH", "::"}});
}

}  // namespace sage
