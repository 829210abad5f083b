#include <doctest/doctest.h>

#include "probes/base/text.hpp"
#include "tests/unit/checks/machines.hpp"

namespace sage {
namespace {

using namespace std::string_literals;
using namespace test;

Facts two_gpus() {
  Facts facts = bare_metal_9070xt();
  facts.gpus.amd.value().push_back(raphael_integrated());
  return facts;
}

Facts with_rocm(std::string version) {
  Facts facts = bare_metal_9070xt();
  facts.rocm.roots.value()[0].version = std::move(version);
  return facts;
}

Facts without_amd_gpu() {
  Facts facts = bare_metal_9070xt();
  facts.gpus.amd = std::vector<Gpu>();
  facts.gpus.kfd_gpu_nodes = 0U;
  return facts;
}

}  // namespace

TEST_CASE("a healthy bare-metal machine neither fails nor warns in topic gpu") {
  const Facts facts = bare_metal_9070xt();
  for (const char* id : {"gpu.present", "gpu.target-known", "gpu.target-agreement", "gpu.rocm-too-old",
                         "gpu.integrated-visible", "gpu.doorbell"}) {
    CAPTURE(id);
    CHECK(verdict(id, facts).status == Status::pass);
  }
  const Finding identity = verdict("gpu.identity", facts);
  CHECK(identity.status == Status::info);
  CHECK(identity.observed ==
        "AMD Radeon RX 9070 XT: gfx1201 by the kernel driver (KFD), discrete, 15.9 GiB video memory, 64 compute units, "
        "HIP device 0");
}

TEST_CASE("no AMD GPU: the cause depends on what else is there") {
  Facts facts = without_amd_gpu();
  const Finding nothing = verdict("gpu.present", facts);
  CHECK(nothing.status == Status::fail);
  CHECK(contains(nothing.cause, "no power"));

  facts.gpus.others = std::vector<std::string>{"NVIDIA 10de:2684"};
  const Finding other = verdict("gpu.present", facts);
  CHECK(other.status == Status::fail);
  CHECK(contains(other.observed, "NVIDIA 10de:2684"));
  CHECK(contains(other.cause, "not AMD's"));

  facts.platform.kind = PlatformKind::virtual_machine;
  CHECK(contains(verdict("gpu.present", facts).cause, "virtual machine"));

  facts.platform.container = ContainerKind::docker;
  CHECK(contains(verdict("gpu.present", facts).remedies.back().text, "on the host"));
}

TEST_CASE("an unknown list of GPUs is no missing GPU") {
  Facts facts = bare_metal_9070xt();
  facts.gpus.amd = Fact<std::vector<Gpu>>::unknown("EACCES");
  CHECK(verdict("gpu.present", facts).status == Status::skip);
}

TEST_CASE("under WSL no GPU is said only when /dev/dxg told every vendor") {
  Facts facts = wsl2_9070xt("7.2.1");
  CHECK(verdict("gpu.present", facts).status == Status::pass);
  facts.gpus.amd = std::vector<Gpu>();
  facts.wsl.adapters.value()[0].vendor_id = 0x10deU;
  facts.wsl.adapters.value()[0].name = "NVIDIA GeForce RTX 4090"s;
  const Finding none = verdict("gpu.present", facts);
  CHECK(none.status == Status::fail);
  CHECK(contains(none.observed, "NVIDIA GeForce RTX 4090"));

  facts.wsl.adapters.value()[0].vendor_id = Fact<std::uint32_t>::unknown("EINVAL");
  CHECK(verdict("gpu.present", facts).status == Status::skip);
  facts.wsl.adapters = std::vector<DxgAdapter>();
  CHECK(verdict("gpu.present", facts).status == Status::fail);
  facts.wsl.adapters = Fact<std::vector<DxgAdapter>>::unknown("timed out");
  CHECK(verdict("gpu.present", facts).status == Status::skip);
}

TEST_CASE("many GPUs are named in short") {
  Facts facts = bare_metal_9070xt();
  for (int i = 0; i < 7; ++i) facts.gpus.amd.value().push_back(rx_9070_xt());
  const Finding finding = verdict("gpu.present", facts);
  CHECK(contains(finding.observed, "8 AMD GPUs: "));
  CHECK(contains(finding.observed, " and 4 more"));
}

TEST_CASE("an unknown target warns and names the ids; a target without a table row is told") {
  Facts facts = bare_metal_9070xt();
  Gpu& gpu = facts.gpus.amd.value()[0];
  gpu.target = "gfx1310"s;
  CHECK(verdict("gpu.target-known", facts).status == Status::info);
  gpu.target = Fact<std::string>::unknown("no source");
  gpu.device_id = 0x7fffU;
  const Finding finding = verdict("gpu.target-known", facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.observed, "1002:7fff"));
  CHECK(finding.subject == "0000:03:00.0");
}

TEST_CASE("sources that disagree on the target warn and say which one is trusted") {
  Facts facts = bare_metal_9070xt();
  Gpu& gpu = facts.gpus.amd.value()[0];
  gpu.table_target = "gfx1200"s;
  const Finding finding = verdict("gpu.target-agreement", facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.observed, "PCI id table says gfx1200"));
  CHECK(contains(finding.cause, "goes by KFD"));

  gpu.kfd_target = Fact<std::string>::unknown("no KFD");
  CHECK(contains(verdict("gpu.target-agreement", facts).cause, "goes by IP discovery"));
  gpu.table_target = "gfx1201"s;
  CHECK(verdict("gpu.target-agreement", facts).status == Status::info);
  gpu.ip_discovery_target = Fact<std::string>::unknown("no folder");
  CHECK(verdict("gpu.target-agreement", facts).status == Status::skip);
}

TEST_CASE("ROCm is compared with the chip number by number") {
  CHECK(verdict("gpu.rocm-too-old", with_rocm("6.0.0-91")).status == Status::fail);
  CHECK(verdict("gpu.rocm-too-old", with_rocm("5.7.1")).status == Status::fail);
  CHECK(verdict("gpu.rocm-too-old", with_rocm("6.3.4")).status == Status::warn);
  CHECK(verdict("gpu.rocm-too-old", with_rocm("6.4.1")).status == Status::pass);
  CHECK(verdict("gpu.rocm-too-old", with_rocm("10.1.0")).status == Status::pass);
  CHECK(verdict("gpu.rocm-too-old", with_rocm("local build")).status == Status::skip);
  CHECK(verdict("gpu.rocm-too-old", with_rocm("6.0.0")).subject == "0000:03:00.0 with /opt/rocm-7.2.0");
}

TEST_CASE("each GPU is compared with each ROCm") {
  Facts facts = two_gpus();
  RocmRoot old;
  old.path = "/opt/rocm-6.0.0"s;
  old.version = "6.0.0"s;
  facts.rocm.roots.value().push_back(old);
  const auto findings = judge("gpu.rocm-too-old", facts);
  REQUIRE(findings.size() == 4);
  CHECK(findings[0].status == Status::pass);
  CHECK(findings[1].status == Status::fail);
  CHECK(findings[2].status == Status::info);  // no first release is established for gfx1036
  facts.rocm.roots = std::vector<RocmRoot>();
  CHECK(verdict("gpu.rocm-too-old", facts).status == Status::skip);
}

TEST_CASE("an integrated GPU beside a discrete one warns; the remedy is counted on this machine") {
  Facts facts = two_gpus();
  const Finding by_uuid = verdict("gpu.integrated-visible", facts);
  CHECK(by_uuid.status == Status::warn);
  CHECK(by_uuid.remedies.front().commands.front() == "export ROCR_VISIBLE_DEVICES=GPU-1122334455667788");

  facts.gpus.amd.value()[0].uuid = ""s;
  CHECK(verdict("gpu.integrated-visible", facts).remedies.front().commands.front() == "export ROCR_VISIBLE_DEVICES=0");
  facts.gpus.amd.value()[0].kfd_index = 1U;
  facts.gpus.amd.value()[1].kfd_index = 0U;
  CHECK(verdict("gpu.integrated-visible", facts).remedies.front().commands.front() == "export ROCR_VISIBLE_DEVICES=1");
}

TEST_CASE("masks that would count the shorter list are taken away before the integrated GPU is hidden") {
  Facts facts = two_gpus();
  set_variable(facts, "CUDA_VISIBLE_DEVICES", "0,1");
  set_assignments(facts, "CUDA_VISIBLE_DEVICES", {{"/home/user1/.bashrc", 7, "0,1"}});
  const std::vector<std::string> commands = {"unset HIP_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES",
                                             "${EDITOR:-nano} +7 /home/user1/.bashrc",
                                             "export ROCR_VISIBLE_DEVICES=GPU-1122334455667788"};
  CHECK(verdict("gpu.integrated-visible", facts).remedies.front().commands == commands);
}

TEST_CASE("GPUs that KFD hides from programs are not called well visible") {
  for (Facts facts : {bare_metal_9070xt(), two_gpus()}) {
    for (Gpu& gpu : facts.gpus.amd.value()) gpu.kfd_readable = false;
    CHECK(verdict("gpu.integrated-visible", facts).status == Status::skip);
  }
}

TEST_CASE("a target that is part of the GPU's name is not said twice") {
  Facts facts = bare_metal_9070xt();
  facts.gpus.amd.value()[0].name = "gfx1201 (1002:7550)"s;
  CHECK(verdict("gpu.present", facts).observed == "1 AMD GPU: gfx1201 (1002:7550)");
}

TEST_CASE("the same ROCm trouble of several GPUs and ROCm folders is told in the same words") {
  Facts facts = with_rocm("6.0.0");
  facts.gpus.amd.value().push_back(rx_9070_xt());
  facts.gpus.amd.value()[1].id = "0000:0a:00.0";
  RocmRoot older;
  older.path = "/opt/rocm-5.7.1"s;
  older.version = "5.7.1"s;
  facts.rocm.roots.value().push_back(older);
  const auto findings = judge("gpu.rocm-too-old", facts);
  REQUIRE(findings.size() == 4);
  for (const Finding& finding : findings) {
    CHECK(finding.status == Status::fail);
    CHECK(finding.cause == findings.front().cause);
    CHECK(finding.remedies.front().text == findings.front().remedies.front().text);
    CHECK(finding.verify == findings.front().verify);
  }
}

TEST_CASE("rocminfo is not asked for where no ROCm folder has one") {
  Facts facts = two_gpus();
  CHECK(verdict("gpu.integrated-visible", facts).verify == "rocminfo | grep gfx");
  facts.rocm.roots = std::vector<RocmRoot>();
  CHECK(verdict("gpu.integrated-visible", facts).verify == "sage-doctor check --only gpu.integrated-visible");
}

TEST_CASE("a masked integrated GPU is no trouble") {
  Facts facts = two_gpus();
  set_variable(facts, "ROCR_VISIBLE_DEVICES", "0");
  CHECK(verdict("gpu.integrated-visible", facts).status == Status::pass);
  set_variable(facts, "ROCR_VISIBLE_DEVICES", "1,0");
  CHECK(verdict("gpu.integrated-visible", facts).status == Status::warn);
  set_variable(facts, "ROCR_VISIBLE_DEVICES", std::nullopt);
  facts.gpus.amd.value()[1].in_kfd = false;
  CHECK(verdict("gpu.integrated-visible", facts).status == Status::pass);
}

TEST_CASE("a mask is seen in the identity of the GPU") {
  Facts facts = two_gpus();
  set_variable(facts, "HIP_VISIBLE_DEVICES", "1");
  const auto findings = judge("gpu.identity", facts);
  CHECK(contains(findings[0].observed, "hidden by a visibility variable"));
  CHECK(contains(findings[1].observed, "HIP device 0"));
}

TEST_CASE("a doorbell type other than 2 fails, an unknown one does not") {
  Facts facts = bare_metal_9070xt();
  facts.gpus.amd.value()[0].doorbell_type = 1U;
  CHECK(verdict("gpu.doorbell", facts).status == Status::fail);
  facts.gpus.amd.value()[0].doorbell_type = Fact<std::uint32_t>::unknown("no KFD node");
  CHECK(verdict("gpu.doorbell", facts).status == Status::skip);
}

TEST_CASE("blanking a fact turns no gpu verdict into a pass") {
  Facts broken = two_gpus();
  Gpu& gpu = broken.gpus.amd.value()[0];
  gpu.table_target = "gfx1200"s;
  gpu.doorbell_type = 1U;
  broken.rocm.roots.value()[0].version = "6.0.0"s;
  Facts masked = two_gpus();
  set_variable(masked, "HIP_VISIBLE_DEVICES", "0,1");
  set_variable(masked, "CUDA_VISIBLE_DEVICES", "0");
  for (const Facts& facts : {broken, masked, without_amd_gpu(), bare_metal_9070xt()}) {
    CHECK(join(passes_by_ignorance(facts), "; ") == "");
  }
}

}  // namespace sage
