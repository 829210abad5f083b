// What holds for every capture in tests/captures, whoever wrote it.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/checks/registry.hpp"
#include "doctor/checks/runner.hpp"
#include "probes/facts/facts_json.hpp"
#include "probes/host/capture_reader.hpp"
#include "probes/host/capture_redaction.hpp"
#include "probes/host/capture_writer.hpp"
#include "probes/host/captured_host.hpp"
#include "probes/host/live_host.hpp"
#include "probes/host/recording_host.hpp"
#include "probes/probe.hpp"
#include "tests/support/expected.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> all_captures() {
  std::vector<fs::path> folders;
  const fs::path all = fs::path(SAGE_TEST_SOURCE_DIR) / "tests/captures";
  for (const fs::directory_entry& entry : fs::directory_iterator(all)) {
    if (fs::exists(entry.path() / "capture.toml")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

GfxTables tables() {
  Result<GfxTables> tables = GfxTables::embedded();
  REQUIRE_MESSAGE(tables.ok(), tables.error().text);
  return *std::move(tables);
}

/// One capture with what it is expected to give; nothing when it has no expected.toml.
struct Case {
  std::string name;
  Capture capture;
  ProbeOptions options;
  std::optional<Expected> expected;
};

Case read_case(const fs::path& folder) {
  Case result;
  result.name = folder.filename().string();
  Result<Capture> capture = read_capture(folder);
  REQUIRE_MESSAGE(capture.ok(), capture.error().text);
  result.capture = *std::move(capture);
  if (fs::exists(folder / "expected.toml")) {
    Result<Expected> expected = read_expected(folder / "expected.toml");
    REQUIRE_MESSAGE(expected.ok(), expected.error().text);
    result.options.deep = expected->deep;
    result.expected = *std::move(expected);
  }
  return result;
}

Facts facts_of(const Case& one, const GfxTables& gfx) {
  return collect_facts(*make_captured_host(one.capture), gfx, one.options);
}

std::vector<Finding> findings_of(const Facts& facts, const GfxTables& gfx) {
  std::vector<const Check*> every;
  for (const Check& check : all_checks()) every.push_back(&check);
  return run_checks(all_checks(), every, CheckInput{facts, gfx});
}

using Statuses = std::map<std::pair<std::string, std::string>, Status>;

Statuses statuses_of(const std::vector<Finding>& findings) {
  Statuses statuses;
  for (const Finding& finding : findings) statuses[{finding.id, finding.subject}] = finding.status;
  return statuses;
}

/// How often each check says what. Without subjects: one may be a path in the home folder.
std::map<std::pair<std::string, Status>, int> counts_of(const std::vector<Finding>& findings) {
  std::map<std::pair<std::string, Status>, int> counts;
  for (const Finding& finding : findings) ++counts[{finding.id, finding.status}];
  return counts;
}

/// An unknown fact must not turn anything else into a pass.
bool became_a_pass(Status before, Status after) {
  return after == Status::pass && before != Status::pass;
}

}  // namespace

TEST_CASE("every capture gives the findings that it expects and no other failure") {
  const GfxTables gfx = tables();
  for (const fs::path& folder : all_captures()) {
    const Case one = read_case(folder);
    REQUIRE_MESSAGE(one.expected, one.name);
    for (const std::string& difference : differences(*one.expected, findings_of(facts_of(one, gfx), gfx))) {
      FAIL_CHECK(one.name << ": " << difference);
    }
  }
}

TEST_CASE("every capture says what it expects") {
  for (const fs::path& folder : all_captures()) CHECK_MESSAGE(fs::exists(folder / "expected.toml"), folder.string());
}

TEST_CASE("every check has a capture in which it complains and one in which it is content") {
  // These two only tell.
  const std::set<std::string_view> never_complain = {"gpu.identity", "wsl.windows-driver"};

  const GfxTables gfx = tables();
  std::set<std::string> complained;
  std::set<std::string> content;
  for (const fs::path& folder : all_captures()) {
    for (const Finding& finding : findings_of(facts_of(read_case(folder), gfx), gfx)) {
      if (finding.status == Status::fail || finding.status == Status::warn) complained.insert(finding.id);
      if (finding.status == Status::pass || finding.status == Status::info) content.insert(finding.id);
    }
  }
  for (const Check& check : all_checks()) {
    const std::string id(check.id);
    CHECK_MESSAGE((complained.contains(id) || never_complain.contains(id)), id);
    CHECK_MESSAGE(content.contains(id), id);
  }
}

TEST_CASE("the facts of every capture come back from JSON as they were") {
  const GfxTables gfx = tables();
  for (const fs::path& folder : all_captures()) {
    const Case one = read_case(folder);
    CAPTURE(one.name);
    const auto json = facts_to_json(facts_of(one, gfx));
    const Result<Facts> back = facts_from_json(nlohmann::ordered_json::parse(json.dump()));
    REQUIRE_MESSAGE(back.ok(), back.error().text);
    CHECK(facts_to_json(*back) == json);
  }
}

TEST_CASE("a capture of a capture gives the same facts") {
  const GfxTables gfx = tables();
  for (const fs::path& folder : all_captures()) {
    const Case one = read_case(folder);
    CAPTURE(one.name);
    const auto host = make_captured_host(one.capture);
    const RecordingHost recorder(*host);
    const auto facts = facts_to_json(collect_facts(recorder, gfx, one.options));

    const TemporaryFolder place;
    const auto written = write_capture(recorder.capture(), place.folder() / "again", {});
    REQUIRE_MESSAGE(written.ok(), written.error().text);
    const Result<Capture> again = read_capture(place.folder() / "again");
    REQUIRE_MESSAGE(again.ok(), again.error().text);
    const auto replayed = facts_to_json(collect_facts(*make_captured_host(*again), gfx, one.options));
    CHECK_MESSAGE(replayed == facts, nlohmann::ordered_json::diff(facts, replayed).dump(1));
  }
}

TEST_CASE("a capture of this machine gives the facts of this machine") {
  const GfxTables gfx = tables();
  const auto live = make_live_host();
  const RecordingHost recorder(*live);
  auto facts = facts_to_json(collect_facts(recorder, gfx, {}));

  const TemporaryFolder place;
  const auto written = write_capture(recorder.capture(), place.folder() / "here", {});
  REQUIRE_MESSAGE(written.ok(), written.error().text);
  const Result<Capture> here = read_capture(place.folder() / "here");
  REQUIRE_MESSAGE(here.ok(), here.error().text);
  const auto replayed = facts_to_json(collect_facts(*make_captured_host(*here), gfx, {}));
  CHECK_MESSAGE(replayed == facts, nlohmann::ordered_json::diff(facts, replayed).dump(1));
}

TEST_CASE("a redacted capture of a capture gives the same statuses") {
  const GfxTables gfx = tables();
  for (const fs::path& folder : all_captures()) {
    const Case one = read_case(folder);
    CAPTURE(one.name);
    const auto host = make_captured_host(one.capture);
    const RecordingHost recorder(*host);
    const auto before = counts_of(findings_of(collect_facts(recorder, gfx, one.options), gfx));

    const TemporaryFolder place;
    const Redaction redaction(known_names(one.capture.process));
    REQUIRE(write_capture(recorder.capture(), place.folder() / "again", redaction).ok());
    const Result<Capture> again = read_capture(place.folder() / "again");
    REQUIRE_MESSAGE(again.ok(), again.error().text);
    CHECK(counts_of(findings_of(collect_facts(*make_captured_host(*again), gfx, one.options), gfx)) == before);
  }
}

TEST_CASE("an unknown fact turns no finding of any capture into a pass") {
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t step = 8;  // all of them would take minutes here; other builds blank every one
#else
  constexpr std::size_t step = 1;
#endif
  std::size_t count = 0;
  const GfxTables gfx = tables();
  for (const fs::path& folder : all_captures()) {
    const Case one = read_case(folder);
    const Facts facts = facts_of(one, gfx);
    const Statuses before = statuses_of(findings_of(facts, gfx));
    for (const std::string& place : known_fact_places(facts)) {
      if (count++ % step != 0) continue;
      const Result<Facts> blanked = with_fact_blanked(facts, place);
      REQUIRE_MESSAGE(blanked.ok(), blanked.error().text);
      for (const auto& [key, status] : statuses_of(findings_of(*blanked, gfx))) {
        const auto original = before.find(key);
        if (original != before.end() && !became_a_pass(original->second, status)) continue;
        // Nor may a pass come up under a subject that the check did not speak of before.
        if (original == before.end() && status != Status::pass) continue;
        FAIL_CHECK(one.name << ": without " << place << ", " << key.first << " (" << key.second << ") goes from "
                            << (original == before.end() ? std::string("nothing") : std::string(enum_name(original->second)))
                            << " to " << std::string(enum_name(status)));
      }
    }
  }
}

}  // namespace sage
