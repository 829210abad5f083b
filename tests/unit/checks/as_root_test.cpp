#include "doctor/checks/as_root.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "doctor/checks/runner.hpp"

namespace sage {
namespace {

std::vector<Finding> wants_sudo(const CheckInput&) {
  Finding finding = fail("broken");
  finding.remedies = {{"Mend it.",
                       {"sudo apt update && sudo apt install x", "echo a | sudo tee -a /etc/b", "echo 'no sudo here'"},
                       {Need::sudo, Need::reboot}}};
  finding.verify = "sudo dmesg | grep x";
  finding.ask = "sudo dmesg | grep y";
  return {finding};
}

Finding run_on(const Facts& facts) {
  const std::vector<Check> table = {{"a.root", "", Topic::gpu, {}, wants_sudo}};
  const GfxTables tables;
  return run_checks(table, {&table[0]}, {facts, tables}).front();
}

}  // namespace

TEST_CASE("root gets every command without sudo") {
  Facts facts;
  facts.platform.is_root = true;
  facts.platform.under_sudo = false;
  const Finding finding = run_on(facts);
  CHECK(finding.remedies.front().commands ==
        std::vector<std::string>{"apt update && apt install x", "echo a | tee -a /etc/b", "echo 'no sudo here'"});
  CHECK(finding.remedies.front().needs == std::vector<Need>{Need::reboot});
  CHECK(finding.verify == "dmesg | grep x");
  CHECK(finding.ask == "dmesg | grep y");
}

TEST_CASE("a user, somebody under sudo and somebody unknown get the commands with sudo") {
  Facts user;
  user.platform.is_root = false;
  user.platform.under_sudo = false;
  Facts under_sudo;
  under_sudo.platform.is_root = true;
  under_sudo.platform.under_sudo = true;
  for (const Facts& facts : {user, under_sudo, Facts()}) {
    const Finding finding = run_on(facts);
    CHECK(finding.remedies.front().commands.front() == "sudo apt update && sudo apt install x");
    CHECK(finding.remedies.front().needs == std::vector<Need>{Need::sudo, Need::reboot});
    CHECK(finding.verify == "sudo dmesg | grep x");
  }
}

}  // namespace sage
