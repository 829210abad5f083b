#include <doctest/doctest.h>

#include "doctor/env/fingerprint.hpp"
#include "probes/base/text.hpp"
#include "tests/support/sample_facts.hpp"

namespace sage {
namespace {

using namespace std::string_literals;

using test::commands_of;
using test::finding_of;
using test::healthy_facts;

/// The healthy machine with kernels that were built on it.
Facts with_kernels() {
  Facts facts = healthy_facts();
  Installation& installation = facts.installation;
  installation.prefix = "/home/user1/.local/share/sage-doctor"s;
  installation.present = true;
  installation.version = "one"s;
  installation.defect = ""s;
  installation.tool_version = "0.1.0"s;
  installation.mark = make_mark(facts, "", false);
  installation.source_sha256 = "abc"s;
  installation.program_source_sha256 = "abc"s;
  installation.targets = std::vector<std::string>{"gfx1201"};
  installation.missing_files = std::vector<std::string>{};
  return facts;
}

}  // namespace

TEST_CASE("without installed kernels there is nothing to say of them") {
  Facts facts = healthy_facts();
  facts.installation.present = false;
  for (const char* id : {"build.broken", "build.stale"}) {
    CHECK(finding_of(id, facts).status == Status::skip);
    CHECK(contains(finding_of(id, facts).observed, "does not apply"));
  }
}

TEST_CASE("installed kernels that are whole and fit pass") {
  CHECK(finding_of("build.broken", with_kernels()).status == Status::pass);
  CHECK(finding_of("build.stale", with_kernels()).status == Status::pass);
}

TEST_CASE("a manifest that says nothing is a failure that names the reason") {
  Facts facts = with_kernels();
  facts.installation.defect = "manifest.json: it is no JSON"s;
  const Finding finding = finding_of("build.broken", facts);
  CHECK(finding.status == Status::fail);
  CHECK(finding.evidence.front().value == "manifest.json: it is no JSON");
  CHECK(commands_of(finding) == "sage-doctor build\n");
}

TEST_CASE("missing files are a failure that names some and counts the rest") {
  Facts facts = with_kernels();
  facts.installation.missing_files = std::vector<std::string>{"a"};
  CHECK(finding_of("build.broken", facts).observed == "1 file of the installed kernels is missing");
  facts.installation.missing_files = std::vector<std::string>{"a", "b", "c", "d", "e", "f"};
  const Finding finding = finding_of("build.broken", facts);
  CHECK(finding.status == Status::fail);
  CHECK(finding.observed == "6 files of the installed kernels are missing");
  REQUIRE(finding.evidence.size() == 5);
  CHECK(finding.evidence[0].source == "/home/user1/.local/share/sage-doctor/current/a");
  CHECK(finding.evidence[4].value == "and 2 more");
}

TEST_CASE("a GPU that there are kernels for and that was not built for is missed, another is not") {
  Facts facts = with_kernels();
  facts.installation.targets = std::vector<std::string>{"gfx1100"};
  Finding finding = finding_of("build.stale", facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.observed == "the installed kernels are stale: there are none for the gfx1201 of this machine");
  CHECK(commands_of(finding) == "sage-doctor build\n");

  // No kernels exist for it: building again would not help.
  facts.gpus.amd.value().front().target = "gfx1030"s;
  facts.installation.mark = make_mark(facts, "", false);
  CHECK(finding_of("build.stale", facts).status == Status::pass);

  facts = with_kernels();
  Gpu integrated = test::integrated_gpu();
  integrated.target = "gfx1151"s;
  facts.gpus.amd.value().push_back(integrated);
  facts.installation.mark = make_mark(facts, "", false);
  CHECK(finding_of("build.stale", facts).status == Status::pass);
  facts.gpus.amd = std::vector<Gpu>{integrated};
  facts.installation.mark = make_mark(facts, "", false);
  CHECK(finding_of("build.stale", facts).status == Status::warn);
}

TEST_CASE("what has changed since the build is told") {
  Facts facts = with_kernels();
  facts.gpus.amd.value().front().target = "gfx1200"s;
  const Finding finding = finding_of("build.stale", facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.evidence[0].value == "GPU was gfx1201 and is gfx1200");

  facts = with_kernels();
  facts.installation.mark = "something else"s;
  CHECK(contains(finding_of("build.stale", facts).observed, "in another form"));
}

TEST_CASE("kernels of other source are stale, unless this program has none to compare") {
  Facts facts = with_kernels();
  facts.installation.program_source_sha256 = "def"s;
  CHECK(finding_of("build.stale", facts).observed ==
        "the installed kernels are stale: sage-doctor 0.1.0 built them from other source than this one has");
  facts.installation.program_source_sha256 = ""s;
  CHECK(finding_of("build.stale", facts).status == Status::pass);
  facts.installation.program_source_sha256 = Fact<std::string>::unknown("blanked");
  CHECK(finding_of("build.stale", facts).status == Status::skip);
}

TEST_CASE("a GPU of unknown target makes no verdict") {
  Facts facts = with_kernels();
  facts.gpus.amd.value().front().target = Fact<std::string>::unknown("blanked");
  CHECK(finding_of("build.stale", facts).status == Status::skip);
}

}  // namespace sage
