#include "doctor/report/redacted_report.hpp"

#include <doctest/doctest.h>

#include "doctor/report/format.hpp"

namespace sage {
namespace {

constexpr std::string_view path = "/home/alice/venv/lib/x.so on desk";

/// A report in which every text that can come from the machine names alice.
Report personal() {
  Report report;
  report.source = "alice";
  report.facts.platform.container = ContainerKind::docker;
  report.facts.platform.kernel_release = std::string(path);
  report.facts.platform.cpu_model = Fact<std::string>::unknown(Error{13, std::string(path)});
  report.facts.platform.distribution.pretty_name = std::string(path);
  Gpu gpu;
  gpu.id = path;
  gpu.name = std::string(path);
  report.facts.gpus.amd = std::vector<Gpu>{gpu};
  report.facts.gpus.others = std::vector<std::string>{std::string(path)};
  Finding finding;
  finding.id = "device.kfd-access";
  finding.status = Status::fail;
  finding.subject = finding.observed = finding.cause = finding.verify = finding.suppressed_reason = path;
  finding.evidence = {{std::string(path), std::string(path)}};
  finding.remedies = {{std::string(path), {std::string(path)}, {}}};
  report.findings = {finding};
  report.summary = summarize(report.findings);
  return report;
}

}  // namespace

TEST_CASE("a redacted report names nobody in any format, and is else the same") {
  const Report report = personal();
  // "docker" is a word of ours for a kind of container, whatever the user's name is.
  const Report without = redacted(report, Redaction({"alice", "desk", "/home/alice"}));
  const Report docker = redacted(report, Redaction({"docker", "desk", "/home/docker"}));
  CHECK(docker.facts.platform.container.is(ContainerKind::docker));
  CHECK(without.facts.platform.cpu_model.why_unknown().number == 13);
  CHECK(without.findings.size() == 1);
  for (const auto& [format, name] : enum_names<ReportFormat>) {
    CAPTURE(name);
    const std::string all = formatted(report, format, {});
    const std::string text = formatted(without, format, {});
    CHECK(all.find("alice") != std::string::npos);
    CHECK(text.find("alice") == std::string::npos);
    CHECK(text.find("desk") == std::string::npos);
    CHECK(text.find("user1") != std::string::npos);
  }
}

TEST_CASE("without names to look for a report stays as it is") {
  const Report report = personal();
  CHECK(formatted(redacted(report, Redaction()), ReportFormat::json, {}) == formatted(report, ReportFormat::json, {}));
}

}  // namespace sage
