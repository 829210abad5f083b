#include "doctor/report/report.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "doctor/checks/check.hpp"
#include "doctor/report/json_report.hpp"
#include "doctor/report/redacted_report.hpp"
#include "doctor/report/text_report.hpp"
#include "doctor/report/wrap.hpp"

namespace sage {
namespace {

Finding named(Finding finding, const std::string& id, Topic topic) {
  finding.id = id;
  finding.topic = topic;
  finding.title = "title of " + id;
  return finding;
}

Report sample() {
  Report report;
  report.tool_version = "1.2.3";
  report.time = "2026-11-30T12:00:00Z";
  report.source = "live";
  report.facts.platform.kernel_release = std::string("6.14.0-generic");
  report.facts.platform.distribution.pretty_name = std::string("Ubuntu 24.04.3 LTS");
  Finding access = fail("/dev/kfd cannot be opened: permission denied");
  access.evidence = {{"/dev/kfd", "mode 0660, group render (992)"}};
  access.cause = "the user alice is not in the group render";
  access.remedies = {{"Join the group.", {"sudo usermod -aG render alice"}, {Need::sudo, Need::new_login}}};
  access.verify = "id -nG | grep render";
  report.findings = {named(pass("glibc 2.39"), "platform.libc", Topic::platform),
                     named(warn("the override is not needed", "0000:03:00.0"), "env.override-mismatch",
                           Topic::environment),
                     named(access, "device.kfd-access", Topic::device),
                     named(not_applicable("this is not WSL2"), "wsl.dxcore", Topic::wsl)};
  report.summary = summarize(report.findings);
  return report;
}

}  // namespace

TEST_CASE("the text report starts with the worst and ends with the count") {
  const std::string text = text_report(sample(), {});
  CHECK(text.find("FAIL") < text.find("WARN"));
  CHECK(text.find("WARN") < text.find("glibc 2.39"));
  CHECK(text.find("        sudo usermod -aG render alice\n") != std::string::npos);
  CHECK(text.find("Remedy (needs administrator rights, a new login afterwards): Join the\n        group.\n") !=
        std::string::npos);
  CHECK(text.ends_with("1 problem, 1 warning (3 checked, 1 skipped)\n"));
  CHECK(text.find("wsl.dxcore") == std::string::npos);
  CHECK(text.find('\033') == std::string::npos);
}

TEST_CASE("what differs in its subject alone is one block and counts once; the JSON keeps each") {
  Report report = sample();
  for (const char* gpu : {"0000:03:00.0", "0000:23:00.0", "0000:43:00.0"}) {
    Finding refused = fail("/dev/dri/renderD128 is refused", gpu);
    refused.cause = "the user is not in the group render";
    refused.remedies = {{"Join the group.", {"sudo usermod -aG render alice"}, {}}};
    report.findings.push_back(named(refused, "device.render-access", Topic::device));
  }
  report.findings.back().cause = "something else";
  report.summary = summarize(report.findings);
  const std::string text = text_report(report, {});
  CHECK(text.find("device.render-access  0000:03:00.0  and 1 more\n") != std::string::npos);
  CHECK(text.find("The same holds for 0000:23:00.0.\n") != std::string::npos);
  CHECK(text.find("device.render-access  0000:43:00.0\n") != std::string::npos);
  CHECK(text.ends_with("3 problems, 1 warning (4 checked, 1 skipped)\n"));
  CHECK(report.summary.fail == 4);
}

TEST_CASE("verbose lists what was skipped, quiet only the problems") {
  ReportStyle style;
  style.skipped = true;
  CHECK(text_report(sample(), style).find("wsl.dxcore: does not apply: this is not WSL2") != std::string::npos);
  style = {};
  style.only_problems = true;
  CHECK(text_report(sample(), style).find("glibc") == std::string::npos);
}

TEST_CASE("colour only decorates: without its codes the text is the same") {
  ReportStyle style;
  style.colour = true;
  std::string coloured = text_report(sample(), style);
  CHECK(coloured.find('\033') != std::string::npos);
  for (std::size_t at = coloured.find('\033'); at != std::string::npos; at = coloured.find('\033')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  CHECK(coloured == text_report(sample(), {}));
}

TEST_CASE("a narrow terminal breaks only lines that can be broken") {
  ReportStyle style;
  style.width = 20;
  const std::string text = text_report(sample(), style);
  std::size_t from = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', from)) {
    const std::string line = text.substr(from, end - from);
    from = end + 1;
    // Ids, commands and single long words stay whole.
    const bool whole = line.find("usermod") != std::string::npos || line.find("explain") != std::string::npos ||
                       line.find("id -nG") != std::string::npos || line.starts_with("FAIL") ||
                       line.starts_with("WARN");
    if (!whole) CHECK_MESSAGE(columns(line) <= 26, line);
  }
}

TEST_CASE("nothing wrong is said with what was checked, never as 'healthy'") {
  Report report = sample();
  report.findings = {named(pass("glibc 2.39"), "platform.libc", Topic::platform)};
  report.summary = summarize(report.findings);
  CHECK(text_report(report, {}).ends_with("No known problem (1 checked, 0 skipped)\n"));
}

TEST_CASE("ignored findings are shown as that and counted apart") {
  Report report = sample();
  report.findings[2].suppressed = true;
  report.findings[2].suppressed_reason = "known";
  report.summary = summarize(report.findings);
  CHECK(report.summary.fail == 0);
  CHECK(report.summary.suppressed == 1);
  CHECK(exit_status(report.summary, false) == 0);
  const std::string text = text_report(report, {});
  CHECK(text.find("[ignored: known]") != std::string::npos);
  CHECK(text.ends_with("1 warning (3 checked, 1 skipped, 1 ignored)\n"));
}

TEST_CASE("the exit status follows the worst finding") {
  Summary summary;
  CHECK(exit_status(summary, true) == 0);
  summary.error = 1;
  CHECK(exit_status(summary, false) == 2);
  summary.warn = 1;
  CHECK(exit_status(summary, false) == 2);
  CHECK(exit_status(summary, true) == 1);
  summary.fail = 1;
  CHECK(exit_status(summary, false) == 1);
}

TEST_CASE("the JSON report holds every field and goes through redaction") {
  const std::string text = json_report(redacted(sample(), Redaction({"alice", "desk", "/home/alice"})), {});
  CHECK(text.find("alice") == std::string::npos);
  const auto json = nlohmann::json::parse(text);
  CHECK(json["schema_version"] == 1);
  CHECK(json["facts"]["facts_version"] == 1);
  CHECK(json["summary"]["fail"] == 1);
  const auto& finding = json["findings"][2];
  CHECK(finding["id"] == "device.kfd-access");
  CHECK(finding["remedy"][0]["commands"][0] == "sudo usermod -aG render user1");
  CHECK(finding["remedy"][0]["needs"] == nlohmann::json({"sudo", "new-login"}));
  CHECK(finding["confidence"] == "certain");
  CHECK(finding["blocked_by"].is_null());
  CHECK(json["findings"][0]["confidence"].is_null());
}

TEST_CASE("bytes that are not UTF-8 do not break the JSON") {
  Report report = sample();
  report.findings[0].observed = "bad \xff byte";
  CHECK(nlohmann::json::accept(json_report(report, {})));
}

}  // namespace sage
