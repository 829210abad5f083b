#include "doctor/config/config.hpp"

#include <doctest/doctest.h>

#include "doctor/checks/check.hpp"

namespace sage {
namespace {

const std::vector<std::string_view> ids = {"platform.sudo", "gpu.present"};

std::string error_of(const std::string& text) {
  const auto config = parse_config(text, "my.toml", ids);
  return config.ok() ? "" : config.error().text;
}

}  // namespace

TEST_CASE("a full configuration is read") {
  const auto config = parse_config(
      "search_paths = [\"/srv/rocm\"]\n"
      "target = \"gfx1201\"\n"
      "tables = \"/etc/gfx.toml\"\n"
      "[ignore.\"platform.sudo\"]\n"
      "reason = \"a build machine\"\n"
      "until = 2027-01-31\n",
      "my.toml", ids);
  REQUIRE(config.ok());
  CHECK(config->search_paths == std::vector<std::string>{"/srv/rocm"});
  CHECK(config->target == "gfx1201");
  CHECK(config->tables == "/etc/gfx.toml");
  REQUIRE(config->ignore.size() == 1);
  CHECK(config->ignore[0].reason == "a build machine");
  CHECK(config->ignore[0].until == "2027-01-31");
}

TEST_CASE("mistakes name the file, the line and the nearest right word") {
  CHECK(error_of("\nserach_paths = []\n") == "my.toml:2: unknown key 'serach_paths' (did you mean 'search_paths'?)");
  CHECK(error_of("target = 5\n") == "my.toml:1: 'target' must be a string");
  CHECK(error_of("search_paths = [\"here\"]\n") == "my.toml:1: 'here' must be an absolute path");
  CHECK(error_of("[ignore.\"gpu.presnt\"]\nreason = \"x\"\n") ==
        "my.toml:1: unknown check 'gpu.presnt' (did you mean 'gpu.present'?); 'sage-doctor list' shows them all");
  CHECK(error_of("[ignore.\"gpu.present\"]\nreasn = \"x\"\n") ==
        "my.toml:2: unknown key 'reasn' (did you mean 'reason'?)");
  CHECK(error_of("[ignore.\"gpu.present\"]\n") == "my.toml:1: [ignore.\"gpu.present\"] needs a reason");
  CHECK(error_of("[ignore.\"gpu.present\"]\nreason = \"x\"\nuntil = \"soon\"\n") ==
        "my.toml:3: 'until' must be a date: until = 2027-01-31");
  CHECK(error_of("target = \n").starts_with("my.toml:1: "));
}

TEST_CASE("ignored findings stay, and a rule holds through its last day") {
  std::vector<Finding> findings = {fail("broken")};
  findings[0].id = "gpu.present";
  const std::vector<IgnoreRule> rules = {{"gpu.present", "no GPU here", "2027-01-31"}};

  auto copy = findings;
  CHECK(suppress(copy, rules, "2027-01-31").empty());
  CHECK(copy[0].suppressed);
  CHECK(copy[0].suppressed_reason == "no GPU here");

  copy = findings;
  CHECK(suppress(copy, rules, "2027-02-01").size() == 1);
  CHECK_FALSE(copy[0].suppressed);
}

}  // namespace sage
