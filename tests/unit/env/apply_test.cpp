// What holds for the environment of every capture, whoever wrote it.

#include "doctor/env/apply.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "doctor/env/plan_parts.hpp"
#include "doctor/env/script.hpp"
#include "doctor/toolchain/choice.hpp"
#include "probes/base/text.hpp"
#include "probes/host/capture_reader.hpp"
#include "probes/host/captured_host.hpp"
#include "tests/unit/checks/machines.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> all_captures() {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(SAGE_TEST_SOURCE_DIR) / "tests/captures")) {
    if (fs::exists(entry.path() / "capture.toml")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::unique_ptr<Host> host_of(const fs::path& folder) {
  Result<Capture> capture = read_capture(folder);
  REQUIRE_MESSAGE(capture.ok(), capture.error().text);
  return make_captured_host(*std::move(capture));
}

Result<TriedPlan> tried(const Host& host) {
  return plan_and_try(host, test::tables(), {}, {});
}

std::set<std::string> complaints(const Judgement& judgement) {
  std::set<std::string> labels;
  for (const Finding& finding : judgement.findings) {
    if (finding.status == Status::fail || finding.status == Status::warn) labels.insert(finding.id + " " + finding.subject);
  }
  return labels;
}

/// The compiler of the plan is the one that the checks call the best for what is built first.
void check_choice(const Facts& facts, const EnvPlan& plan) {
  const std::vector<std::string> targets = build_targets(facts);
  if (targets.empty() || !own_override(facts).empty()) return;
  const BuildPurpose purpose = rocm_torch(facts) != nullptr ? BuildPurpose::extensions : BuildPurpose::hip_programs;
  const Toolchain* best = best_toolchain(facts, test::tables(), targets.front(), purpose);
  if (best == nullptr || best->kind.is(CompilerKind::hiprtc) || best->kind.is(CompilerKind::comgr)) return;
  const std::string both = plan.description + " instead of " + best->path;
  CHECK_MESSAGE(plan.description.find(best->path + ", ") == 0, both);
}

}  // namespace

TEST_CASE("in every capture the planned environment makes nothing fail and can be undone") {
  std::size_t planned = 0;
  for (const fs::path& folder : all_captures()) {
    CAPTURE(folder.filename().string());
    const auto host = host_of(folder);
    const Result<TriedPlan> result = tried(*host);
    if (!result) {
      CHECK(result.error().text.find("nothing usable") == 0);
      continue;
    }
    ++planned;
    const EnvironmentValues after = activated(result->values, result->plan);
    CHECK(deactivated(after) == result->values);
    CHECK(activated(after, result->plan) == after);

    const Judgement before = judge_environment(*host, result->values, test::tables(), {});
    const Judgement now = judge_environment(*host, after, test::tables(), {});
    check_choice(before.facts, result->plan);
    CHECK_MESSAGE(made_worse(before, now).empty(), join(made_worse(before, now), ", "));
    CHECK(result->plan.mended == mended_by(before, now));
    // Its own script is never stale, nor at odds with what it has set.
    for (const Finding& finding : now.findings) {
      if (finding.id == "env.script-stale") CHECK_MESSAGE(finding.status != Status::warn, finding.observed);
    }
    for (const EnvSetting& setting : result->plan.settings) {
      CHECK(environment_allowed(setting.variable));
      CHECK_FALSE(setting.why.empty());
      REQUIRE_FALSE(setting.values.empty());
      for (const std::string& folder_in_front : setting.values) {
        if (setting.kind == SettingKind::prepend) CHECK_FALSE(is_system_folder(folder_in_front));
      }
      CHECK(setting.variable != "HSA_OVERRIDE_GFX_VERSION");
    }
    CHECK(write_script(result->plan, Shell::bash, {"0", "0", result->values}).ok());
  }
  CHECK(planned > 50);
}

TEST_CASE("what a plan mends is said, and is mended") {
  const fs::path captures = fs::path(SAGE_TEST_SOURCE_DIR) / "tests/captures";
  for (const auto& [capture, finding] : {std::pair("wsl2-variable-missing", "wsl.dxg-detection-off"),
                                         std::pair("wsl2-rocdxg-not-in-cache", "wsl.rocdxg"),
                                         std::pair("wsl2-dxcore-not-in-cache", "wsl.dxcore")}) {
    CAPTURE(std::string(capture));
    const auto host = host_of(captures / capture);
    const Result<TriedPlan> result = tried(*host);
    REQUIRE_MESSAGE(result.ok(), result.error().text);
    const auto& mended = result->plan.mended;
    CHECK(std::any_of(mended.begin(), mended.end(), [&](const std::string& label) { return label.find(finding) == 0; }));
    const Judgement now = judge_environment(*host, activated(result->values, result->plan), test::tables(), {});
    const std::set<std::string> left = complaints(now);
    CHECK(std::none_of(left.begin(), left.end(), [&](const std::string& label) { return label.find(finding) == 0; }));
  }
}

TEST_CASE("a setting that would break something is told from one that only uncovers it") {
  const auto finding = [](std::string_view id, Status status, std::string blocked_by) {
    Finding result = make_finding(status, "");
    result.id = id;
    result.blocked_by = std::move(blocked_by);
    return result;
  };
  Judgement before;
  before.findings = {finding("a", Status::fail, ""), finding("b", Status::skip, "a"), finding("c", Status::pass, "")};
  Judgement after;
  after.findings = {finding("a", Status::pass, ""), finding("b", Status::fail, ""), finding("c", Status::pass, "")};
  CHECK(made_worse(before, after).empty());
  CHECK(mended_by(before, after) == std::vector<std::string>{"a"});
  after.findings[2].status = Status::fail;
  CHECK(made_worse(before, after) == std::vector<std::string>{"c"});
  // What is not judged any more is not mended.
  after.findings[0].status = Status::skip;
  CHECK(mended_by(before, after).empty());
}

TEST_CASE("a second libamdhip64 in a process counts as a failure") {
  const auto judgement = [](std::vector<std::string> paths) {
    LoadPrediction one;
    one.scenario = LoadScenario::torch;
    std::vector<LoadedCopy> copies;
    for (const std::string& path : paths) {
      LoadedCopy copy;
      copy.path = path;
      copy.library = RuntimeLibrary::amdhip64;
      copies.push_back(copy);
    }
    one.copies = copies;
    Judgement result;
    result.facts.libraries.predictions = std::vector<LoadPrediction>{one};
    return result;
  };
  CHECK(made_worse(judgement({"/a"}), judgement({"/a", "/b"})).size() == 1);
  CHECK(made_worse(judgement({"/a", "/b"}), judgement({"/a", "/b"})).empty());
  CHECK(made_worse(judgement({}), judgement({"/a"})).empty());
}

}  // namespace sage
