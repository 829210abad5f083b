#include "doctor/checks/runner.hpp"

#include <optional>
#include <stdexcept>

#include <doctest/doctest.h>

namespace sage {
namespace {

std::vector<Finding> fails(const CheckInput&) { return {fail("broken")}; }
std::vector<Finding> passes(const CheckInput&) { return {pass("fine", "a"), pass("fine", "b")}; }
std::vector<Finding> fails_for_a(const CheckInput&) { return {fail("broken", "a"), pass("fine", "b")}; }
std::optional<Finding> never(const Facts&) { return not_applicable("nothing here"); }
std::optional<Finding> always(const Facts&) { return std::nullopt; }
std::vector<Finding> throws(const CheckInput&) { throw std::runtime_error("oops"); }

std::vector<Finding> run(const std::vector<Check>& table) {
  std::vector<const Check*> selected;
  for (const Check& check : table) selected.push_back(&check);
  const Facts facts;
  const GfxTables tables;
  return run_checks(table, selected, {facts, tables});
}

}  // namespace

TEST_CASE("a failed prerequisite silences what depends on it, and is named as the root") {
  const std::vector<Check> table = {{"a.root", "", Topic::gpu, {}, fails},
                                    {"a.middle", "", Topic::gpu, {"a.root"}, passes},
                                    {"a.leaf", "", Topic::gpu, {"a.middle"}, fails}};
  const auto findings = run(table);
  REQUIRE(findings.size() == 3);
  CHECK(findings[1].status == Status::skip);
  CHECK(findings[2].status == Status::skip);
  CHECK(findings[2].blocked_by == "a.root");
}

TEST_CASE("a prerequisite that failed for one subject silences that subject alone") {
  const std::vector<Check> table = {{"a.root", "", Topic::gpu, {}, fails_for_a},
                                    {"a.leaf", "", Topic::gpu, {"a.root"}, passes}};
  const auto findings = run(table);
  REQUIRE(findings.size() == 4);
  CHECK(findings[2].status == Status::skip);
  CHECK(findings[2].blocked_by == "a.root");
  CHECK(findings[3].status == Status::pass);
}

TEST_CASE("a check that throws is an error of ours and blocks nothing") {
  const std::vector<Check> table = {{"a.root", "", Topic::gpu, {}, throws},
                                    {"a.leaf", "", Topic::gpu, {"a.root"}, passes}};
  const auto findings = run(table);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].status == Status::error);
  CHECK(findings[1].status == Status::pass);
}

TEST_CASE("prerequisites of a selected check run too, others do not") {
  const std::vector<Check> table = {{"a.root", "", Topic::gpu, {}, fails_for_a},
                                    {"a.leaf", "", Topic::gpu, {"a.root"}, passes},
                                    {"a.other", "", Topic::gpu, {}, fails}};
  const Facts facts;
  const GfxTables tables;
  const auto findings = run_checks(table, {&table[1]}, {facts, tables});
  CHECK(findings.size() == 4);
}

TEST_CASE("a check out of scope waits for nothing, one in scope waits as usual") {
  const std::vector<Check> table = {{"a.root", "", Topic::gpu, {}, fails},
                                    {"a.other", "", Topic::gpu, {"a.root"}, fails, never},
                                    {"a.leaf", "", Topic::gpu, {"a.root"}, fails, always}};
  const auto findings = run(table);
  REQUIRE(findings.size() == 3);
  CHECK(findings[1].observed == "does not apply: nothing here");
  CHECK(findings[1].blocked_by.empty());
  CHECK(findings[2].blocked_by == "a.root");
}

}  // namespace sage
