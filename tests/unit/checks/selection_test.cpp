#include "doctor/checks/selection.hpp"

#include <doctest/doctest.h>

namespace sage {
namespace {

const std::vector<Check> table = {{"wsl.dxcore", "", Topic::wsl, {}, nullptr},
                                  {"wsl.rocdxg", "", Topic::wsl, {}, nullptr},
                                  {"gpu.present", "", Topic::gpu, {}, nullptr}};

std::vector<std::string> ids(const Result<std::vector<const Check*>>& selected) {
  std::vector<std::string> found;
  for (const Check* check : *selected) found.emplace_back(check->id);
  return found;
}

}  // namespace

TEST_CASE("checks are chosen by id, glob or topic") {
  CHECK(ids(select_checks(table, {}, {})).size() == 3);
  CHECK(ids(select_checks(table, {"wsl.*"}, {})) == std::vector<std::string>{"wsl.dxcore", "wsl.rocdxg"});
  CHECK(ids(select_checks(table, {"wsl"}, {"wsl.r*"})) == std::vector<std::string>{"wsl.dxcore"});
}

TEST_CASE("a pattern that matches nothing is an error that helps") {
  const auto selected = select_checks(table, {"gpu.presnt"}, {});
  REQUIRE_FALSE(selected.ok());
  CHECK(selected.error().text ==
        "no check matches 'gpu.presnt' (did you mean 'gpu.present'?); 'sage-doctor list' shows them all");
  CHECK_FALSE(select_checks(table, {}, {"nothing.*"}).ok());
}

TEST_CASE("a choice that leaves nothing is an error, not a clean report") {
  CHECK_FALSE(select_checks(table, {"gpu"}, {"gpu.*"}).ok());
}

}  // namespace sage
