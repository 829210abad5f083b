#include <doctest/doctest.h>

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

constexpr auto environment_ids = {"env.override-empty",  "env.override-format", "env.override-mismatch",
                                  "env.visible-devices", "env.rocm-paths",      "env.library-path",
                                  "env.preload",         "env.hip-platform",    "env.rocm-arch"};

Facts with(std::string_view name, std::string value) {
  Facts facts = healthy_facts();
  set_variable(facts, name, std::move(value));
  return facts;
}

Facts with_two_gpus() {
  Facts facts = healthy_facts();
  facts.gpus.amd.value().push_back(test::integrated_gpu());
  DeviceNode node = facts.devices.dri->front();
  node.path = "/dev/dri/renderD129";
  facts.devices.dri.value().push_back(node);
  return facts;
}

void name_path(Facts& facts, std::string variable, std::string path, bool exists) {
  NamedPath named;
  named.variable = std::move(variable);
  named.path = std::move(path);
  named.exists = exists;
  facts.environment.named_paths.value().push_back(named);
}

}  // namespace

TEST_CASE("an environment without any of the variables passes every environment check") {
  for (const char* id : environment_ids) {
    CAPTURE(id);
    CHECK(finding_of(id, healthy_facts()).status == Status::pass);
  }
}

TEST_CASE("without an AMD GPU, or with an unknown list, no environment check speaks") {
  for (const char* id : environment_ids) {
    CAPTURE(id);
    Facts facts = healthy_facts();
    facts.gpus.amd = std::vector<Gpu>{};
    CHECK(finding_of(id, facts).status == Status::skip);
    facts.gpus.amd = Fact<std::vector<Gpu>>::unknown("blanked");
    CHECK(finding_of(id, facts).status == Status::skip);
  }
}

TEST_CASE("an empty override fails, unless every runtime found is new enough to take it") {
  Facts facts = with("HSA_OVERRIDE_GFX_VERSION", "");
  CHECK(finding_of("env.override-empty", facts).status == Status::fail);
  CHECK(finding_of("env.override-format", facts).status == Status::pass);
  HsaCopy copy;
  copy.path = "/opt/rocm-10.1.0/lib/libhsa-runtime64.so.1"s;
  copy.rocm_version = "10.1.0"s;
  facts.rocm.hsa = std::vector<HsaCopy>{copy};
  CHECK(finding_of("env.override-empty", facts).status == Status::warn);
  facts.rocm.hsa.value()[0].rocm_version = "7.2.0"s;
  CHECK(finding_of("env.override-empty", facts).status == Status::fail);
}

TEST_CASE("an override that is no version fails; the right form is shown only where it is sound") {
  const Finding needless = finding_of("env.override-format", with("HSA_OVERRIDE_GFX_VERSION", "gfx1201"));
  CHECK(needless.status == Status::fail);
  CHECK(contains(commands_of(needless), "unset HSA_OVERRIDE_GFX_VERSION"));
  CHECK_FALSE(contains(commands_of(needless), "export"));

  Facts facts = with("HSA_OVERRIDE_GFX_VERSION", "gfx1030");
  facts.gpus.amd.value()[0].target = "gfx1032"s;
  CHECK(contains(commands_of(finding_of("env.override-format", facts)), "export HSA_OVERRIDE_GFX_VERSION=10.3.0"));
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", "10.3");
  CHECK(contains(commands_of(finding_of("env.override-format", facts)), "export HSA_OVERRIDE_GFX_VERSION=10.3.0"));
  facts.gpus.amd.value()[0].target = "gfx1201"s;
  CHECK_FALSE(contains(commands_of(finding_of("env.override-format", facts)), "export"));
}

TEST_CASE("an override across generations fails, one within the table's safe rows informs") {
  CHECK(finding_of("env.override-mismatch", with("HSA_OVERRIDE_GFX_VERSION", "11.0.0")).status == Status::fail);
  CHECK(finding_of("env.override-mismatch", with("HSA_OVERRIDE_GFX_VERSION", "12.0.1")).status == Status::info);
  Facts facts = with("HSA_OVERRIDE_GFX_VERSION", "12.0.1");
  facts.gpus.amd.value()[0].target = "gfx1200"s;
  CHECK(finding_of("env.override-mismatch", facts).status == Status::info);
  facts.gpus.amd.value()[0].target = "gfx1151"s;
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  CHECK(finding_of("env.override-mismatch", facts).status == Status::warn);
  facts.gpus.amd.value()[0].target = "gfx90a"s;
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", "10.3.0");
  CHECK(finding_of("env.override-mismatch", facts).status == Status::fail);
}

TEST_CASE("a target known only from a table can't make an override fail") {
  Facts facts = with("HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  facts.gpus.amd.value()[0].target_source = TargetSource::pci_id;
  CHECK(finding_of("env.override-mismatch", facts).status == Status::warn);
}

TEST_CASE("the per-node override wins for its node alone") {
  Facts facts = with_two_gpus();
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION_2", "10.3.0");
  auto findings = findings_of("env.override-mismatch", facts);
  CHECK(findings[0].status == Status::pass);
  CHECK(findings[1].status == Status::info);
  facts.gpus.amd.value()[1].kfd_node = Fact<std::uint32_t>::unknown("blanked");
  CHECK(findings_of("env.override-mismatch", facts)[1].status == Status::skip);
}

TEST_CASE("on WSL any override only warns") {
  Facts facts = with("HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  facts.platform.kind = PlatformKind::wsl2;
  const Finding finding = finding_of("env.override-mismatch", facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.observed, "adds nothing"));
}

TEST_CASE("a remedy names the file and line that set the variable") {
  Facts facts = with("HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  Assignment assignment;
  assignment.file = "/home/user1/.bashrc"s;
  assignment.line = 118;
  assignment.value = "11.0.0"s;
  for (Variable& variable : facts.environment.variables) {
    if (variable.name == "HSA_OVERRIDE_GFX_VERSION") variable.assignments = std::vector<Assignment>{assignment};
  }
  CHECK(contains(commands_of(finding_of("env.override-mismatch", facts)), "+118 /home/user1/.bashrc"));
}

TEST_CASE("masks that leave nothing fail, masks with a slip warn, clean ones pass") {
  CHECK(finding_of("env.visible-devices", with("HIP_VISIBLE_DEVICES", "-1")).status == Status::fail);
  CHECK(finding_of("env.visible-devices", with("HIP_VISIBLE_DEVICES", "1")).status == Status::fail);
  CHECK(finding_of("env.visible-devices", with("ROCR_VISIBLE_DEVICES", "")).status == Status::fail);
  CHECK(finding_of("env.visible-devices", with("HIP_VISIBLE_DEVICES", "")).status == Status::pass);
  CHECK(finding_of("env.visible-devices", with("HIP_VISIBLE_DEVICES", "0,gpu")).status == Status::warn);
  CHECK(finding_of("env.visible-devices", with("HIP_VISIBLE_DEVICES", "0,-1")).status == Status::pass);
}

TEST_CASE("masks in both variables that miss each other are explained") {
  Facts facts = with_two_gpus();
  set_variable(facts, "ROCR_VISIBLE_DEVICES", "1");
  set_variable(facts, "HIP_VISIBLE_DEVICES", "1");
  const Finding finding = finding_of("env.visible-devices", facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "ROCR_VISIBLE_DEVICES has left"));
}

TEST_CASE("a mask that leaves only the integrated GPU warns and offers the other one by UUID") {
  Facts facts = with_two_gpus();
  set_variable(facts, "HIP_VISIBLE_DEVICES", "1");
  const Finding finding = finding_of("env.visible-devices", facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(commands_of(finding), "ROCR_VISIBLE_DEVICES=GPU-1122334455667788"));
}

TEST_CASE("ROCM_HOME as the popular recipe leaves it warns") {
  for (const char* value :
       {"", "None", "None/lib", "/v/lib/python3.12/site-packages/torch", "/v/lib/python3.12/site-packages/torch/lib"}) {
    CAPTURE(value);
    CHECK(finding_of("env.rocm-paths", with("ROCM_HOME", value)).status == Status::warn);
  }
  Facts facts = with("ROCM_HOME", "/opt/rocm");
  CHECK(finding_of("env.rocm-paths", facts).status == Status::skip);
  name_path(facts, "ROCM_HOME", "/opt/rocm", false);
  CHECK(finding_of("env.rocm-paths", facts).status == Status::warn);
  facts.environment.named_paths.value()[0].exists = true;
  CHECK(finding_of("env.rocm-paths", facts).status == Status::pass);
}

TEST_CASE("a folder whose name only begins like the torch package is no torch package") {
  Facts facts = with("ROCM_PATH", "/v/site-packages/torch_rocm_home");
  name_path(facts, "ROCM_PATH", "/v/site-packages/torch_rocm_home", true);
  CHECK(finding_of("env.rocm-paths", facts).status == Status::pass);
}

TEST_CASE("LD_LIBRARY_PATH warns of empty elements, missing folders and two ROCm trees") {
  Facts facts = with("LD_LIBRARY_PATH", "/opt/rocm-7.2.0/lib:");
  name_path(facts, "LD_LIBRARY_PATH", "/opt/rocm-7.2.0/lib", true);
  CHECK(finding_of("env.library-path", facts).status == Status::warn);
  set_variable(facts, "LD_LIBRARY_PATH", "/opt/rocm-7.2.0/lib");
  CHECK(finding_of("env.library-path", facts).status == Status::pass);
  set_variable(facts, "LD_LIBRARY_PATH", "/opt/rocm-7.2.0/lib:/opt/rocm-6.4.0/lib");
  name_path(facts, "LD_LIBRARY_PATH", "/opt/rocm-6.4.0/lib", true);
  CHECK(finding_of("env.library-path", facts).status == Status::pass);
  RocmRoot old;
  old.path = "/opt/rocm-6.4.0"s;
  RocmRoot current;
  current.path = "/opt/rocm-7.2.0"s;
  facts.rocm.roots = std::vector<RocmRoot>{old, current};
  CHECK(finding_of("env.library-path", facts).status == Status::warn);
  facts.environment.named_paths.value()[0].exists = false;
  facts.rocm.roots = std::vector<RocmRoot>{};
  CHECK(finding_of("env.library-path", facts).status == Status::warn);
  CHECK(finding_of("env.library-path", with("LD_LIBRARY_PATH", "")).status == Status::pass);
}

TEST_CASE("one bad element of a list does not cost the good ones") {
  Facts facts = with("LD_LIBRARY_PATH", "/usr/lib/wsl/lib:/gone");
  name_path(facts, "LD_LIBRARY_PATH", "/usr/lib/wsl/lib", true);
  name_path(facts, "LD_LIBRARY_PATH", "/gone", true);
  facts.environment.named_paths.value()[1].exists = false;
  CHECK(commands_of(finding_of("env.library-path", facts)) == "export LD_LIBRARY_PATH=/usr/lib/wsl/lib\n");
  CHECK(contains(commands_of(finding_of("env.library-path", with("LD_LIBRARY_PATH", ":"))), "unset LD_LIBRARY_PATH"));
  const Finding preload = finding_of("env.preload", with("LD_PRELOAD", "libtcmalloc.so.4 /opt/rocm/lib/libamdhip64.so.7"));
  CHECK(commands_of(preload) == "export LD_PRELOAD=libtcmalloc.so.4\n");
}

TEST_CASE("LD_PRELOAD warns of ROCm libraries and of missing files") {
  CHECK(finding_of("env.preload", with("LD_PRELOAD", "/opt/rocm/lib/librocdxg.so.1")).status == Status::warn);
  CHECK(finding_of("env.preload", with("LD_PRELOAD", "libtcmalloc.so.4")).status == Status::pass);
  Facts facts = with("LD_PRELOAD", "/usr/lib/libjemalloc.so /gone.so");
  name_path(facts, "LD_PRELOAD", "/usr/lib/libjemalloc.so", true);
  name_path(facts, "LD_PRELOAD", "/gone.so", true);
  CHECK(finding_of("env.preload", facts).status == Status::pass);
  facts.environment.named_paths.value()[1].exists = false;
  CHECK(finding_of("env.preload", facts).status == Status::warn);
}

TEST_CASE("HIP_PLATFORM other than amd warns") {
  CHECK(finding_of("env.hip-platform", with("HIP_PLATFORM", "amd")).status == Status::pass);
  CHECK(finding_of("env.hip-platform", with("HIP_PLATFORM", "nvidia")).status == Status::warn);
}

TEST_CASE("PYTORCH_ROCM_ARCH warns of unknown names and of a list without this GPU") {
  CHECK(finding_of("env.rocm-arch", with("PYTORCH_ROCM_ARCH", "gfx1100;gfx1201")).status == Status::pass);
  CHECK(finding_of("env.rocm-arch", with("PYTORCH_ROCM_ARCH", "gfx12-generic")).status == Status::pass);
  CHECK(finding_of("env.rocm-arch", with("PYTORCH_ROCM_ARCH", "gfx1201,gfx9999")).status == Status::warn);
  const Finding finding = finding_of("env.rocm-arch", with("PYTORCH_ROCM_ARCH", "gfx1100"));
  CHECK(finding.status == Status::warn);
  CHECK(contains(commands_of(finding), "export PYTORCH_ROCM_ARCH=gfx1201"));
  Facts facts = with("PYTORCH_ROCM_ARCH", "gfx90a:xnack-");
  facts.gpus.amd.value()[0].target = "gfx90a"s;
  CHECK(finding_of("env.rocm-arch", facts).status == Status::pass);
}

TEST_CASE("PYTORCH_ROCM_ARCH may leave out the integrated GPU beside a discrete one") {
  Facts facts = with_two_gpus();
  set_variable(facts, "PYTORCH_ROCM_ARCH", "gfx1201");
  CHECK(finding_of("env.rocm-arch", facts).status == Status::pass);
  set_variable(facts, "PYTORCH_ROCM_ARCH", "gfx1036");
  CHECK(finding_of("env.rocm-arch", facts).status == Status::warn);
}

TEST_CASE("a per-node override counts nodes as the runtime does: hidden GPUs are dropped first") {
  Facts facts = healthy_facts();
  Gpu hidden = facts.gpus.amd->front();
  hidden.id = "0000:01:00.0";
  hidden.kfd_node = std::uint32_t{1};
  hidden.kfd_readable = false;
  Gpu seen = facts.gpus.amd->front();
  seen.kfd_node = std::uint32_t{2};
  seen.kfd_readable = true;
  facts.gpus.amd = std::vector<Gpu>{hidden, seen};
  facts.environment.variables.push_back({"HSA_OVERRIDE_GFX_VERSION_1", std::optional<std::string>("10.3.0"),
                                         std::vector<Assignment>{}});
  const auto wrong_generation = findings_of("env.override-mismatch", facts);
  REQUIRE(wrong_generation.size() == 2);
  CHECK(wrong_generation[0].status == Status::skip);
  CHECK(wrong_generation[1].status == Status::fail);

  facts.environment.variables.back().name = "HSA_OVERRIDE_GFX_VERSION_2";
  const auto no_gpu = findings_of("env.override-mismatch", facts);
  REQUIRE(no_gpu.size() == 3);
  CHECK(no_gpu[0].status == Status::warn);
  CHECK(no_gpu[0].subject == "HSA_OVERRIDE_GFX_VERSION_2");
  CHECK(no_gpu[2].status == Status::pass);
}

TEST_CASE("an override beside a discrete GPU asks for the integrated one to be hidden, not for software for it") {
  Facts facts = healthy_facts();
  Gpu integrated = facts.gpus.amd->front();
  integrated.id = "0000:0e:00.0";
  integrated.kind = GpuKind::integrated;
  integrated.target = "gfx1036"s;
  integrated.kfd_target = "gfx1036"s;
  integrated.kfd_node = std::uint32_t{2};
  facts.gpus.amd.value().front().kind = GpuKind::discrete;
  facts.gpus.amd.value().push_back(integrated);
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", "12.0.1");
  for (const Finding& finding : findings_of("env.override-mismatch", facts)) CHECK(finding.status == Status::info);
}

}  // namespace sage
