#include "doctor/build/summary.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "doctor/build/smoke_record.hpp"

using namespace sage;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

ManifestKernel kernel(const std::string& name, ExecutedOn where) {
  ManifestKernel one;
  one.name = name;
  one.file = "kernels/gfx1201-" + name + ".hsaco";
  one.vgprs = 177;
  one.lds_bytes = 40000;
  one.executed_on = where;
  return one;
}

BuildOutcome installed(ExecutedOn prologue, ExecutedOn attention) {
  BuildOutcome outcome;
  outcome.state = BuildOutcome::State::installed;
  outcome.folder = "/home/u/.local/share/sage-doctor/versions/0.1.0-abc";
  outcome.manifest.tool_version = "0.1.0";
  outcome.manifest.targets = {{"gfx1201", "gfx12", {"clang++", "/usr/bin/clang++-19", "19.1.7", ""},
                               {kernel("sage_prologue", prologue), kernel("sage_attention_d64_F16_LONG", attention)}}};
  outcome.manifest.accuracy = {{"sage_attention_d64_F16_LONG", "gpu gfx1201", "dense, 2061 queries", 0.01, 0.001, 0.02, 0.003, true}};
  return outcome;
}

BuildOutcome failed_build() {
  BuildOutcome outcome;
  outcome.problems = {"gfx1201: 2 kernels could not be built"};
  outcome.log = "/p/build.log";
  TargetOutcome target;
  target.target = "gfx1201";
  for (const char* name : {"sage_prologue", "sage_attention_d64_F16_LONG"}) {
    UnitResult unit;
    unit.unit.name = name;
    unit.state = UnitState::failed;
    unit.failure = BuildFailure{"target-unknown", "hipcc does not know gfx1201.", "Take another.", {"clang: error: invalid target ID"}};
    target.result.units.push_back(unit);
  }
  outcome.targets.push_back(target);
  return outcome;
}

}  // namespace

TEST_CASE("the last line says where kernels ran, and nothing counts as a GPU but a GPU") {
  CHECK(worth(installed(ExecutedOn::none, ExecutedOn::none).manifest) == "built and verified statically, NOT executed on a GPU");
  CHECK(worth(installed(ExecutedOn::gpu, ExecutedOn::gpu).manifest) == "built, verified and run on the GPU (gfx1201)");
  CHECK(worth(installed(ExecutedOn::gpu, ExecutedOn::none).manifest) ==
        "built and verified; 1 of 2 code objects run on the GPU (gfx1201)");
  const std::string text = build_text(installed(ExecutedOn::none, ExecutedOn::none), {}, 80);
  CHECK(text.ends_with("built and verified statically, NOT executed on a GPU\n"));
}

TEST_CASE("a cause that is the same for every kernel is told once, with evidence, remedy and log") {
  const std::string text = build_text(failed_build(), {{}, {{"clang++ 19 can.", {"sage-doctor build --toolchain /c"}, {}}}}, 80);
  const std::size_t first = text.find("hipcc does not know gfx1201.");
  REQUIRE(first != std::string::npos);
  CHECK(text.find("hipcc does not know gfx1201.", first + 1) == std::string::npos);
  for (const char* part : {"invalid target ID", "Take another.", "sage-doctor build --toolchain /c", "/p/build.log",
                           "What was installed before is as it was."}) {
    CHECK_MESSAGE(has(text, part), part);
  }
}

TEST_CASE("hundreds of warnings stay a few lines") {
  BuildOutcome outcome = installed(ExecutedOn::none, ExecutedOn::none);
  for (int i = 0; i < 50; ++i) outcome.manifest.targets[0].kernels[1].warnings.push_back("spills " + std::to_string(i));
  const std::string text = build_text(outcome, {}, 80);
  CHECK(has(text, "and 47 warnings more in manifest.json"));
  CHECK_FALSE(has(text, "spills 3\n"));
}

TEST_CASE("a summary fits 80 columns") {
  for (const BuildOutcome& outcome : {installed(ExecutedOn::none, ExecutedOn::gpu), failed_build()}) {
    std::istringstream lines(build_text(outcome, {}, 80));
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 80, line);
  }
}

TEST_CASE("wrong numbers stand out, and a number that is none is no number in JSON") {
  std::vector<ManifestAccuracy> rows = installed(ExecutedOn::none, ExecutedOn::none).manifest.accuracy;
  rows[0].passed = false;
  CHECK(has(accuracy_text(rows, 80), "WRONG"));
  SmokeRun run;
  run.state = SmokeRun::State::ran;
  run.where = "gpu gfx1201";
  run.records = {{"k", "dense", std::nan(""), 1, 2, 3, 0.012, 0.05, 0.02, false, "written outside of out", "queries 0 to 127 of head 0"}};
  CHECK(wrong_numbers(run.records[0], run.where) ==
        "k gives wrong numbers (gpu gfx1201, dense): written outside of out, relative L1 nan (allowed 0.012), worst row 2 (allowed 0.05), "
        "LSE 3 (allowed 0.02); first in queries 0 to 127 of head 0");
  CHECK(has(smoke_run_text(run), "\"relative_l1\": null") != has(smoke_run_text(run), "\"relative_l1\":null"));
  const SmokeRun back = smoke_run_from_text(smoke_run_text(run));
  CHECK(back.state == SmokeRun::State::ran);
  REQUIRE(back.records.size() == 1);
  CHECK(std::isnan(back.records[0].relative_l1));
  CHECK(back.records[0].first_wrong == "queries 0 to 127 of head 0");
  CHECK_FALSE(back.passed());
}

TEST_CASE("no trial at all is none that passed, and each that did not pass is told") {
  CHECK_FALSE(all_passed({}));
  SmokeRun good;
  good.state = SmokeRun::State::ran;
  good.where = "emulated gfx12";
  good.records = {{"k", "dense", 0.01, 0.001, 0.02, 0.003, 0.012, 0.05, 0.02, true, "", ""}};
  SmokeRun unreached;
  unreached.state = SmokeRun::State::no_gpu;
  unreached.reason = "no library";
  CHECK(all_passed({good}));
  CHECK_FALSE(all_passed({good, unreached}));
  CHECK(smoke_problems({good, unreached}) == std::vector<std::string>{"nothing ran on the GPU: no library"});
  CHECK(accuracy_rows({good, unreached}).size() == 1);
}

TEST_CASE("a run that tried nothing has not passed, and a garbled answer is a failed run") {
  SmokeRun empty;
  empty.state = SmokeRun::State::ran;
  CHECK_FALSE(empty.passed());
  for (const char* text : {"", "{", "[]", "{}", R"({"state":"ran"})", R"({"state":"won","where":"","runtime":"","reason":"","records":[]})",
                           R"({"state":"ran","where":"","runtime":"","reason":"","records":[{}]})"}) {
    const SmokeRun run = smoke_run_from_text(text);
    CHECK(run.state == SmokeRun::State::failed);
    CHECK(has(run.reason, "garbled"));
  }
}

TEST_CASE("JSON of a failed build has causes, and no manifest") {
  const auto json = nlohmann::json::parse(build_json(failed_build(), {}, Redaction()));
  CHECK(json["state"] == "failed");
  CHECK(json["manifest"].is_null());
  CHECK(json["executed_on_gpu"] == false);
  CHECK(json["targets"][0]["failures"][0]["id"] == "target-unknown");
  const auto good = nlohmann::json::parse(build_json(installed(ExecutedOn::gpu, ExecutedOn::gpu), {}, Redaction()));
  CHECK(good["executed_on_gpu"] == true);
  CHECK(good["manifest"]["targets"][0]["kernels"][0]["executed_on"] == "gpu");
}
