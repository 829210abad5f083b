#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "doctor/checks/check.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/report/format.hpp"

namespace sage {
namespace {

using Json = nlohmann::json;

Finding of_check(std::string_view id, Finding finding) {
  const Check* check = find_check(id);
  REQUIRE(check != nullptr);
  finding.id = check->id;
  finding.title = check->title;
  finding.topic = check->topic;
  return finding;
}

/// One finding of each status, and an ignored failure.
Report sample() {
  Report report;
  report.tool_version = "1.2.3";
  report.time = "2026-11-30T12:00:00Z";
  report.source = "live";
  Finding access = fail("/dev/kfd cannot be opened");
  access.evidence = {
      {"groups of this process", "1000"}, {"/dev/kfd", "mode 0660"}, {"build.log:12", "Permission denied"}};
  access.cause = "not a member";
  access.confidence = Confidence::likely;
  access.remedies = {{"Join.", {"sudo usermod -aG render alice", "newgrp render"}, {Need::sudo}}, {"Ask.", {}, {}}};
  access.verify = "id -nG | grep render";
  Finding waits = make_finding(Status::skip, "waits for device.kfd-access");
  waits.blocked_by = "device.kfd-access";
  Finding ignored = fail("run by sudo");
  ignored.suppressed = true;
  ignored.suppressed_reason = "a build machine";
  report.findings = {of_check("platform.libc", pass("glibc 2.39")),
                     of_check("gpu.identity", info("Radeon", "0000:03:00.0")),
                     of_check("platform.sudo", ignored),
                     of_check("env.override-mismatch", warn("the override is not needed", "0000:03:00.0")),
                     of_check("device.kfd-access", access),
                     of_check("device.render-access", waits),
                     of_check("driver.dkms", make_finding(Status::error, "this check broke: out of range")),
                     of_check("wsl.dxcore", not_applicable("this is not WSL2"))};
  report.summary = summarize(report.findings);
  return report;
}

std::string sample_as(ReportFormat format, ReportStyle style = {}) {
  return formatted(sample(), format, style);
}

Json results_by_rule(const Json& log) {
  Json results;
  for (const Json& result : log["runs"][0]["results"]) results[result["ruleId"].get<std::string>()] = result;
  return results;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t number_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace

TEST_CASE("every format ends with a line end and has no escape codes") {
  Report report = sample();
  report.findings[0].observed = report.findings[4].observed = "red \033[31m";
  report.findings[4].remedies[0].commands = {"\033]0;title\a"};
  for (const auto& [format, name] : enum_names<ReportFormat>) {
    const std::string text = formatted(report, format, {});
    CHECK_MESSAGE(text.ends_with("\n"), std::string(name));
    CHECK_MESSAGE(text.find_first_of("\033\a") == std::string::npos, std::string(name));
  }
}

TEST_CASE("SARIF has a kind and a level for every status") {
  ReportStyle style;
  style.exit_status = 1;
  const Json log = Json::parse(sample_as(ReportFormat::sarif, style));
  const Json results = results_by_rule(log);
  const auto check = [&](const char* id, const char* kind, const char* level) {
    CHECK_MESSAGE(results[id]["kind"] == kind, id);
    CHECK_MESSAGE(results[id]["level"] == level, id);
  };
  check("device.kfd-access", "fail", "error");
  check("env.override-mismatch", "fail", "warning");
  check("platform.libc", "pass", "none");
  check("gpu.identity", "informational", "none");
  check("wsl.dxcore", "notApplicable", "none");
  check("device.render-access", "open", "none");
  check("driver.dkms", "open", "none");
  CHECK(results["platform.sudo"]["suppressions"] ==
        Json::parse(R"([{"kind": "external", "justification": "a build machine"}])"));
  CHECK(results["device.kfd-access"]["suppressions"] == Json::array());
  const Json invocation = log["runs"][0]["invocations"][0];
  CHECK(invocation["exitCode"] == 1);
  CHECK(invocation["startTimeUtc"] == "2026-11-30T12:00:00Z");
  CHECK(invocation["executionSuccessful"] == false);
  CHECK(invocation["toolExecutionNotifications"][0]["associatedRule"]["id"] == "driver.dkms");
}

TEST_CASE("SARIF places a finding at its first file; the rest belongs to it") {
  const Json result = results_by_rule(Json::parse(sample_as(ReportFormat::sarif)))["device.kfd-access"];
  CHECK(result["locations"].size() == 1);
  CHECK(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///dev/kfd");
  CHECK(result["locations"][0]["message"]["text"] == "mode 0660");
  CHECK(result["relatedLocations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "groups of this process");
  CHECK(result["relatedLocations"][1]["physicalLocation"]["artifactLocation"]["uri"] == "build.log");
  CHECK(result["relatedLocations"][1]["physicalLocation"]["region"]["startLine"] == 12);
  CHECK(result["message"]["text"].get<std::string>().starts_with("/dev/kfd cannot be opened\n"));
  CHECK(
      has(result["message"]["text"].get<std::string>(), "\nsudo usermod -aG render alice\nnewgrp render\nOr: Ask.\n"));
  CHECK(result["properties"]["remedy"][0]["needs"] == Json::array({"sudo"}));
}

TEST_CASE("SARIF has the page of each check as a rule, once") {
  Report report = sample();
  report.findings.push_back(of_check("device.kfd-access", fail("again", "other")));
  const Json run = Json::parse(formatted(report, ReportFormat::sarif, {}))["runs"][0];
  const Json rules = run["tool"]["driver"]["rules"];
  CHECK(rules.size() == 8);
  for (const Json& result : run["results"])
    CHECK(rules[result["ruleIndex"].get<std::size_t>()]["id"] == result["ruleId"]);
  const Json rule = rules[run["results"].back()["ruleIndex"].get<std::size_t>()];
  CHECK(rule["shortDescription"]["text"] == find_check("device.kfd-access")->title);
  CHECK(rule["fullDescription"]["text"].get<std::string>().starts_with(
      "`/dev/kfd` exists, but this process may not open it."));
  CHECK(rule["help"]["markdown"].get<std::string>().starts_with("# device.kfd-access\n"));
}

TEST_CASE("quiet leaves problems only, in the formats for people and in SARIF") {
  ReportStyle style;
  style.only_problems = true;
  const Json log = Json::parse(sample_as(ReportFormat::sarif, style));
  CHECK(log["runs"][0]["results"].size() == 3);
  for (const ReportFormat format : {ReportFormat::text, ReportFormat::markdown, ReportFormat::html}) {
    const std::string text = sample_as(format, style);
    CHECK(has(text, "device.kfd-access"));
    CHECK_FALSE(has(text, "glibc 2.39"));
    CHECK_FALSE(has(text, "wsl.dxcore"));
  }
  CHECK(sample_as(ReportFormat::json, style) == sample_as(ReportFormat::json));
  CHECK(sample_as(ReportFormat::junit, style) == sample_as(ReportFormat::junit));
}

TEST_CASE("JUnit counts what it shows, and strict makes a warning a failure") {
  const std::string xml = sample_as(ReportFormat::junit);
  CHECK(has(xml, "<testsuites name=\"sage-doctor\" tests=\"8\" failures=\"1\" errors=\"1\">"));
  CHECK(number_of(xml, "<testcase ") == 8);
  CHECK(number_of(xml, "<failure ") == 1);
  CHECK(number_of(xml, "<error ") == 1);
  CHECK(number_of(xml, "<skipped ") == 3);
  CHECK(has(xml, "<skipped message=\"[ignored: a build machine] run by sudo\"/>"));
  CHECK(has(xml, "<system-out>WARN 0000:03:00.0: the override is not needed\n"));
  CHECK(has(xml, "timestamp=\"2026-11-30T12:00:00\""));
  ReportStyle strict;
  strict.strict = true;
  const std::string stricter = sample_as(ReportFormat::junit, strict);
  CHECK(number_of(stricter, "<failure ") == 2);
  CHECK(has(stricter, "<failure type=\"warn\" message=\"0000:03:00.0: the override is not needed\">"));
  CHECK(has(stricter, " tests=\"8\" failures=\"2\" errors=\"1\">"));
}

TEST_CASE("Markdown has a table of the problems, each with its remedy, and the rest folded") {
  const std::string text = sample_as(ReportFormat::markdown);
  CHECK(text.starts_with("### sage-doctor 1.2.3: 1 problem, 1 check broke, 1 warning ("));
  CHECK(has(text, "| **FAIL** | `device.kfd-access` | /dev/kfd cannot be opened |\n"));
  CHECK(has(text, "#### FAIL `device.kfd-access`\n"));
  CHECK(has(text, "* `build.log:12`: `Permission denied`\n\n**Cause (likely):** not a member\n\n"));
  CHECK(has(
      text,
      "**Remedy (needs administrator rights):** Join.\n\n```sh\nsudo usermod -aG render alice\nnewgrp render\n```\n"));
  CHECK(has(text, "<details><summary>Skipped: 2</summary>\n\n"));
  CHECK(number_of(text, "<details>") == number_of(text, "</details>"));
  CHECK(has(text, "**Not redacted:**"));
  ReportStyle style;
  style.skipped = style.redacted = true;
  const std::string verbose = sample_as(ReportFormat::markdown, style);
  CHECK(has(verbose, "<details open><summary>Skipped: 2</summary>"));
  CHECK_FALSE(has(verbose, "Not redacted"));
}

TEST_CASE("Markdown is never longer than GitHub takes, and says what is left out") {
  Report report = sample();
  CHECK_FALSE(has(formatted(report, ReportFormat::markdown, {}), "left out"));
  for (int i = 0; i < 3000; ++i) {
    Finding finding = of_check("gpu.doorbell", fail("too old", std::to_string(i)));
    finding.cause = "cause " + std::to_string(i) + std::string(300, '*');
    report.findings.push_back(finding);
    report.findings.push_back(of_check("platform.libc", pass("passed " + std::to_string(i))));
  }
  report.findings[4].observed = std::string(1000000, '<');
  report.findings[4].evidence = {{std::string(100000, '`'), "x"}};
  const std::string text = formatted(report, ReportFormat::markdown, {});
  CHECK(text.size() < 65536);
  CHECK(text.size() > 40000);
  CHECK(has(text, "parts are left out**"));
  CHECK(has(text, "(998500 more bytes)"));
  CHECK(number_of(text, "<details>") == number_of(text, "</details>"));
}

TEST_CASE("HTML has problems first, commands as they are typed, and the rest folded") {
  const std::string page = sample_as(ReportFormat::html);
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  CHECK(has(page, "<h1 class=\"of-fail\">1 problem, 1 check broke, 1 warning</h1>"));
  CHECK(page.find("device.kfd-access") < page.find("env.override-mismatch"));
  CHECK(page.find("env.override-mismatch") < page.find("glibc 2.39"));
  CHECK(has(page, "<code>sudo usermod -aG render alice\nnewgrp render</code></pre>"));
  CHECK(has(page, "<summary><h2>Skipped: 2</h2></summary>"));
  CHECK(number_of(page, "<article ") == 3);
  ReportStyle style;
  style.skipped = true;
  CHECK(has(sample_as(ReportFormat::html, style), "<details open>\n<summary><h2>Skipped: 2</h2></summary>"));
}

TEST_CASE("a page of a machine without problems opens with what is in order") {
  Report report = sample();
  report.findings = {report.findings[0]};
  report.summary = summarize(report.findings);
  const std::string page = formatted(report, ReportFormat::html, {});
  CHECK(has(page, "<h1 class=\"of-pass\">No known problem</h1>"));
  CHECK(has(page, "<details open>\n<summary><h2>In order, or only told: 1</h2></summary>"));
  CHECK_FALSE(has(page, "<article"));
}

TEST_CASE("the machine is told first: equal GPUs once, ROCm and PyTorch with their places") {
  Report report = sample();
  report.facts.platform.distribution.pretty_name = std::string("Debian 12");
  report.facts.platform.kernel_release = std::string("6.1.0");
  std::vector<Gpu> gpus(3);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].id = "gpu" + std::to_string(i);
    gpus[i].name = std::string(i == 1 ? "Raphael" : "MI300X");
    gpus[i].target = std::string(i == 1 ? "gfx1036" : "gfx942");
  }
  report.facts.gpus.amd = gpus;
  report.facts.rocm.roots = std::vector<RocmRoot>{{"/opt/rocm", std::string("7.2.0")}};
  PythonEnvironment environment;
  environment.prefix = "/venv";
  environment.torch = std::vector<TorchInstall>(1);
  environment.torch.value()[0].version = std::string("2.9.1+rocm7.2");
  report.facts.python.environments = std::vector<PythonEnvironment>{environment};
  const std::string text = formatted(report, ReportFormat::markdown, {});
  CHECK(
      has(text,
          "| Machine | |\n|---|---|\n| System | Debian 12, Linux 6.1.0 |\n| GPU | MI300X (gfx942): gpu0, gpu2 |\n"
          "| GPU | Raphael (gfx1036): gpu1 |\n| ROCm | 7.2.0 in /opt/rocm |\n| PyTorch | 2.9.1+rocm7.2 in /venv |\n"));
  CHECK(has(formatted(report, ReportFormat::html, {}), "<dt>GPU</dt><dd>MI300X (gfx942): gpu0, gpu2</dd>"));
}

TEST_CASE("what stands in the place of a template's word is not looked at again") {
  Report report = sample();
  report.findings[4].observed = "@CAUSE@ @STATUS@";
  CHECK(has(formatted(report, ReportFormat::html, {}), "<h3>@CAUSE@ @STATUS@</h3>"));
}

}  // namespace sage
