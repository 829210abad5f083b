#include <doctest/doctest.h>

#include <algorithm>

#include "probes/base/text.hpp"
#include "tests/support/sample_facts.hpp"

namespace sage {
namespace {

using namespace std::string_literals;

using test::commands_of;
using test::finding_of;
using test::findings_of;
using test::healthy_facts;
using test::set_variable;

const std::string torch_hip = "/v/torch/lib/libamdhip64.so";
const std::string system_hip = "/opt/rocm-7.2.0/lib/libamdhip64.so.7";
const std::string torch_hsa = "/v/torch/lib/libhsa-runtime64.so";

LibraryCopy copy(std::string path, RuntimeLibrary library, std::string version) {
  LibraryCopy copy;
  copy.path = std::move(path);
  copy.library = library;
  copy.other_paths = std::vector<std::string>{};
  copy.soname = library == RuntimeLibrary::amdhip64 ? "libamdhip64.so.7"s : "libhsa-runtime64.so.1"s;
  copy.build_id = ""s;
  copy.rocm_version = std::move(version);
  return copy;
}

LoadedCopy loaded(std::string path, RuntimeLibrary library, std::string requester, std::string rule) {
  LoadedCopy copy;
  copy.path = std::move(path);
  copy.library = library;
  copy.requester = std::move(requester);
  copy.rule = std::move(rule);
  return copy;
}

const LoadedCopy of_torch = loaded(torch_hip, RuntimeLibrary::amdhip64, "/v/torch/lib/libtorch_hip.so",
                                   "DT_RPATH of libtorch_hip.so");
const LoadedCopy of_system = loaded(system_hip, RuntimeLibrary::amdhip64, "/v/ext.so", "DT_RUNPATH of ext.so");

LoadPrediction prediction(LoadScenario scenario, std::string subject, std::vector<LoadedCopy> copies) {
  LoadPrediction prediction;
  prediction.scenario = scenario;
  prediction.subject = std::move(subject);
  prediction.example = false;
  prediction.requests = copies;
  prediction.copies = std::move(copies);
  prediction.missing = std::vector<std::string>{};
  prediction.unmet_versions = std::vector<UnmetVersion>{};
  return prediction;
}

Facts with(std::vector<LoadPrediction> predictions) {
  Facts facts = healthy_facts();
  facts.libraries.copies = std::vector<LibraryCopy>{copy(torch_hip, RuntimeLibrary::amdhip64, "7.2"),
                                                    copy(system_hip, RuntimeLibrary::amdhip64, "7.2.0"),
                                                    copy(torch_hsa, RuntimeLibrary::hsa_runtime64, "6.4")};
  facts.libraries.predictions = std::move(predictions);
  return facts;
}

LoadPrediction torch_alone() {
  return prediction(LoadScenario::torch, "/v/torch/lib/libtorch_hip.so", {of_torch});
}

LoadPrediction then_extension(std::vector<LoadedCopy> copies) {
  return prediction(LoadScenario::torch_then_extension, "/v/ext.so", std::move(copies));
}

}  // namespace

TEST_CASE("one runtime in each process is content") {
  const Facts facts = with({torch_alone(), then_extension({of_torch})});
  for (const Finding& finding : findings_of("libs.two-runtimes", facts)) CHECK(finding.status == Status::pass);
  for (const Finding& finding : findings_of("libs.missing", facts)) CHECK(finding.status == Status::pass);
}

TEST_CASE("an extension that brings a second runtime is told with who uses which") {
  const auto findings = findings_of("libs.two-runtimes", with({torch_alone(), then_extension({of_torch, of_system})}));
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].status == Status::pass);
  CHECK(findings[1].status == Status::warn);
  CHECK(findings[1].subject == "/v/ext.so");
  const auto used = std::any_of(findings[1].evidence.begin(), findings[1].evidence.end(), [](const Evidence& row) {
    return row.source == system_hip && row.value == "used by ext.so";
  });
  CHECK(used);
}

TEST_CASE("two files of one build are no finding") {
  Facts facts = with({torch_alone(), then_extension({of_torch, of_system})});
  std::vector<LibraryCopy>& copies = facts.libraries.copies.value();
  copies.erase(copies.begin() + 1);
  copies[0].other_paths = std::vector<std::string>{system_hip};
  CHECK(findings_of("libs.two-runtimes", facts).back().status == Status::pass);
}

TEST_CASE("what LD_PRELOAD brings is told by the check of that variable") {
  LoadedCopy preloaded = of_system;
  preloaded.rule = "preloaded; by its path"s;
  const auto findings = findings_of("libs.two-runtimes", with({then_extension({preloaded, of_torch})}));
  CHECK(findings.front().status == Status::info);
}

TEST_CASE("a model extension never makes a finding") {
  LoadPrediction model = then_extension({of_torch, of_system});
  model.example = true;
  model.missing = std::vector<std::string>{"libamdhip64.so.6"};
  const Facts facts = with({torch_alone(), model});
  for (const char* id : {"libs.two-runtimes", "libs.missing"}) {
    for (const Finding& finding : findings_of(id, facts)) CHECK(finding.status == Status::pass);
  }
}

TEST_CASE("a missing runtime fails, another missing library of an extension warns") {
  LoadPrediction extension = then_extension({of_torch});
  extension.missing = std::vector<std::string>{"libamdhip64.so.6"};
  const Finding runtime = findings_of("libs.missing", with({torch_alone(), extension})).back();
  CHECK(runtime.status == Status::fail);
  CHECK(contains(runtime.observed, "libamdhip64.so.6"));
  CHECK(std::any_of(runtime.evidence.begin(), runtime.evidence.end(),
                    [](const Evidence& row) { return row.source == system_hip; }));
  extension.missing = std::vector<std::string>{"libjpeg.so.8"};
  CHECK(findings_of("libs.missing", with({torch_alone(), extension})).back().status == Status::warn);
}

TEST_CASE("a symbol version that the copy lacks fails by the path of the copy") {
  LoadPrediction torch = torch_alone();
  torch.unmet_versions = std::vector<UnmetVersion>{{"/v/torch/lib/libtorch_cpu.so", "/h/miniconda3/lib/libstdc++.so.6"s,
                                                    "GLIBCXX_3.4.30"s, ""s}};
  const Finding conda = finding_of("libs.libstdcxx", with({torch}));
  CHECK(conda.status == Status::fail);
  CHECK(contains(conda.cause, "conda environment is older"));
  CHECK(contains(commands_of(conda), "conda install"));
  torch.unmet_versions = std::vector<UnmetVersion>{{"/v/torch/lib/libtorch_cpu.so", "/lib/libc.so.6"s, "GLIBC_2.38"s, ""s}};
  const Finding old = finding_of("libs.libstdcxx", with({torch}));
  CHECK(old.status == Status::fail);
  CHECK(contains(old.cause, "glibc"));
  CHECK(commands_of(old).empty());
}

TEST_CASE("of an older C++ library it is told whether the system's would do") {
  LoadPrediction torch = torch_alone();
  UnmetVersion gap{"/v/torch/lib/libtorch_cpu.so", "/h/miniconda3/lib/libstdc++.so.6"s, "GLIBCXX_3.4.30"s,
                   "/lib/libstdc++.so.6"s};
  torch.unmet_versions = std::vector<UnmetVersion>{gap};
  Facts facts = with({torch});
  const Finding shadowed = finding_of("libs.libstdcxx", facts);
  CHECK(contains(shadowed.cause, "the system's, which would do"));
  CHECK(shadowed.evidence.back().source == "/lib/libstdc++.so.6");
  CHECK(shadowed.evidence.back().value == "has GLIBCXX_3.4.30");

  // By LD_LIBRARY_PATH: taking the folder out is a remedy only where the other copy does not lack it as well.
  set_variable(facts, "LD_LIBRARY_PATH", "/h/miniconda3/lib");
  CHECK(contains(finding_of("libs.libstdcxx", facts).remedies.front().text, "/lib/libstdc++.so.6 has what is needed"));
  gap.served_by = ""s;
  facts.libraries.predictions.value()[0].unmet_versions = std::vector<UnmetVersion>{gap};
  CHECK(contains(commands_of(finding_of("libs.libstdcxx", facts)), "conda install"));
  gap.served_by = Fact<std::string>::unknown("an older report");
  facts.libraries.predictions.value()[0].unmet_versions = std::vector<UnmetVersion>{gap};
  const Finding untold = finding_of("libs.libstdcxx", facts);
  CHECK(untold.status == Status::fail);
  CHECK(contains(untold.remedies.front().text, "may be newer"));
}

TEST_CASE("a plain name that leads to another release warns, to the same one is only mentioned") {
  LoadedCopy bare = of_system;
  bare.requester = ""s;
  bare.rule = "ld.so.cache"s;
  Facts facts = with({torch_alone(), prediction(LoadScenario::bare_name, "libamdhip64.so", {of_torch, bare})});
  facts.libraries.copies.value()[0].rocm_version = "7.14.0"s;
  CHECK(finding_of("libs.bare-name", facts).status == Status::warn);
  facts.libraries.copies.value()[0].rocm_version = "7.2.0"s;
  CHECK(finding_of("libs.bare-name", facts).status == Status::info);
  CHECK(finding_of("libs.bare-name", with({torch_alone(), prediction(LoadScenario::bare_name, "libamdhip64.so",
                                                                     {of_torch})})).status == Status::pass);
}

TEST_CASE("a HIP that gets an older HSA warns; two numbers of a release are enough") {
  LoadPrediction torch = torch_alone();
  torch.requests = std::vector<LoadedCopy>{loaded(torch_hsa, RuntimeLibrary::hsa_runtime64, torch_hip, "DT_RPATH")};
  CHECK(finding_of("libs.hsa-older", with({torch})).status == Status::warn);
  Facts facts = with({torch});
  facts.libraries.copies.value()[2].rocm_version = "7.2.4"s;
  CHECK(finding_of("libs.hsa-older", facts).status == Status::pass);
  facts.libraries.copies.value()[2].rocm_version = Fact<std::string>::unknown("no tree");
  CHECK(finding_of("libs.hsa-older", facts).status == Status::skip);
}

TEST_CASE("without predictions there is nothing to say") {
  Facts facts = healthy_facts();
  facts.libraries.copies = std::vector<LibraryCopy>{};
  facts.libraries.predictions = Fact<std::vector<LoadPrediction>>::unknown("musl has a loader with other rules");
  for (const char* id : {"libs.missing", "libs.libstdcxx", "libs.two-runtimes", "libs.bare-name", "libs.hsa-older"}) {
    CHECK(finding_of(id, facts).status == Status::skip);
  }
}

}  // namespace sage
