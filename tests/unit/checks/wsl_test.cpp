#include <doctest/doctest.h>

#include <cerrno>

#include "doctor/checks/registry.hpp"
#include "probes/base/text.hpp"
#include "tests/unit/checks/machines.hpp"

namespace sage {
namespace {

using namespace std::string_literals;
using namespace test;

constexpr const char* torch_hsa = "/home/user1/venv/lib/python3.12/site-packages/torch/lib/libhsa-runtime64.so";
constexpr const char* distro_hsa = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1";

Status status(std::string_view id, const Facts& facts) {
  return verdict(id, facts).status;
}

Facts with_hsa(std::vector<HsaCopy> copies) {
  Facts facts = wsl2_9070xt("7.2.1");
  facts.rocm.hsa = std::move(copies);
  return facts;
}

HsaCopy stock(std::string version) {
  return hsa_copy("/opt/rocm/lib/libhsa-runtime64.so.1", LibraryOrigin::rocm_root, std::move(version), true, false);
}
HsaCopy roc4wsl() {
  return hsa_copy("/opt/rocm/lib/libhsa-runtime64.so.1", LibraryOrigin::rocm_root, "6.4.2", false, true);
}
HsaCopy old_wheel() {
  return hsa_copy(torch_hsa, LibraryOrigin::torch_wheel, "6.4", false, false);
}
HsaCopy old_distribution() {
  return hsa_copy(distro_hsa, LibraryOrigin::distribution, "5.7.1", false, false);
}

Facts detection(std::string version, std::optional<std::string> value) {
  Facts facts = wsl2_9070xt(version);
  set_variable(facts, "HSA_ENABLE_DXG_DETECTION", std::move(value));
  set_assignments(facts, "HSA_ENABLE_DXG_DETECTION", {});
  return facts;
}

Facts dxg_gone() {
  Facts facts = wsl2_9070xt("7.2.1");
  facts.devices.dxg.present = false;
  facts.devices.dxg.character_device = Fact<bool>::unknown("absent");
  facts.devices.dxg.open = Errno{ENOENT};
  facts.wsl.adapters = Fact<std::vector<DxgAdapter>>::unknown("no /dev/dxg");
  facts.gpus.amd = Fact<std::vector<Gpu>>::unknown("no /dev/dxg");
  return facts;
}

Facts rx_7600() {
  Facts facts = wsl2_9070xt("7.2.1");
  Gpu& gpu = facts.gpus.amd.value()[0];
  gpu.device_id = 0x7480U;
  gpu.name = "AMD Radeon RX 7600"s;
  gpu.target = "gfx1102"s;
  facts.wsl.adapters.value()[0].device_id = 0x7480U;
  return facts;
}

Facts bridge_out_of_reach() {
  Facts facts = wsl2_9070xt("7.2.1");
  facts.rocm.rocdxg.value()[0].in_loader_cache = false;
  return facts;
}

}  // namespace

TEST_CASE("a healthy WSL2 neither fails nor warns, with ROCm 7.2, 7.14 or 10.1") {
  for (const char* version : {"7.2.1", "7.14.0", "10.1.0"}) {
    Facts facts = wsl2_9070xt(version);
    if (std::string_view(version) != "7.2.1") {
      set_variable(facts, "HSA_ENABLE_DXG_DETECTION", std::nullopt);
      set_assignments(facts, "HSA_ENABLE_DXG_DETECTION", {});
    }
    for (const auto& topic : {gpu_checks(), wsl_checks()}) {
      for (const Check& check : topic) {
        for (const Finding& finding : check.run({facts, tables()})) {
          CAPTURE(version);
          CAPTURE(check.id);
          CAPTURE(finding.observed);
          CHECK(finding.status != Status::fail);
          CHECK(finding.status != Status::warn);
        }
      }
    }
    for (const char* id : {"wsl.runtime", "wsl.dxg-detection-off", "wsl.rocdxg", "wsl.dxcore", "wsl.gpu-allowlist"}) {
      CHECK(status(id, facts) == Status::pass);
    }
  }
}

TEST_CASE("no row about WSL speaks on bare metal or WSL1") {
  Facts facts = bare_metal_9070xt();
  for (const PlatformKind kind : {PlatformKind::bare_metal, PlatformKind::virtual_machine, PlatformKind::wsl1}) {
    facts.platform.kind = kind;
    for (const Check& check : wsl_checks()) CHECK(status(check.id, facts) == Status::skip);
  }
}

TEST_CASE("a missing /dev/dxg fails once, with the cause that the surroundings tell") {
  Facts facts = dxg_gone();
  CHECK(status("wsl.dxg-present", facts) == Status::fail);
  CHECK(contains(verdict("wsl.dxg-present", facts).cause, "CONFIG_DXGKRNL"));
  facts.wsl.library_folder = false;
  CHECK(contains(verdict("wsl.dxg-present", facts).cause, "too old"));
  facts.wsl.wslconfig_gpu_support = false;
  CHECK(contains(verdict("wsl.dxg-present", facts).cause, ".wslconfig of Windows"));
  facts.platform.container = ContainerKind::docker;
  const Finding in_docker = verdict("wsl.dxg-present", facts);
  CHECK(contains(in_docker.cause, "docker container"));
  CHECK(contains(in_docker.remedies.front().commands.front(), "--device=/dev/dxg"));
  for (const char* id : {"wsl.dxg-access", "wsl.adapters", "gpu.present", "wsl.dxcore", "wsl.runtime", "wsl.rocdxg"}) {
    CHECK(status(id, facts) == Status::skip);
  }
}

TEST_CASE("something else at /dev/dxg fails too") {
  Facts facts = wsl2_9070xt("7.2.1");
  facts.devices.dxg.character_device = false;
  CHECK(status("wsl.dxg-present", facts) == Status::fail);
}

TEST_CASE("an errno of opening /dev/dxg decides, and groups are never the advice") {
  Facts facts = wsl2_9070xt("7.2.1");
  for (const int error : {EACCES, EPERM, ENODEV}) {
    facts.devices.dxg.open = Errno{error};
    facts.devices.dxg.mode = 0660U;
    const Finding finding = verdict("wsl.dxg-access", facts);
    CHECK(finding.status == Status::fail);
    for (const Remedy& remedy : finding.remedies) {
      for (const std::string& command : remedy.commands) {
        CHECK_FALSE(contains(command, "usermod"));
        CHECK_FALSE(contains(command, "chmod"));
      }
    }
  }
  CHECK(contains(verdict("wsl.dxg-access", facts).evidence.at(1).value, "mode 0660; WSL makes it with mode 0666"));
}

TEST_CASE("a silent /dev/dxg means an unknown GPU, and the rest of the way is still judged") {
  Facts facts = wsl2_9070xt("7.2.1");
  facts.wsl.adapters = Fact<std::vector<DxgAdapter>>::unknown(Error{ETIMEDOUT, "no answer within 2 s"});
  facts.gpus.amd = Fact<std::vector<Gpu>>::unknown("no answer within 2 s");
  CHECK(status("wsl.adapters", facts) == Status::warn);
  CHECK(contains(verdict("wsl.adapters", facts).observed, "in time"));
  CHECK(status("gpu.present", facts) == Status::skip);
  CHECK(status("wsl.dxcore", facts) == Status::pass);
  CHECK(status("wsl.dxg-detection-off", facts) == Status::pass);
}

TEST_CASE("a GPU outside the list warns unless a dids.conf adds it") {
  Facts facts = rx_7600();
  const Finding finding = verdict("wsl.gpu-allowlist", facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.subject == "dxg:0");
  CHECK(finding.remedies.back().commands.front() ==
        "echo '0x7480,11,0,2' | sudo tee -a /opt/rocm/share/rocdxg/dids.conf");
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  CHECK(contains(verdict("wsl.gpu-allowlist", facts).evidence.back().value, "does not add a GPU"));
  facts.wsl.allowed_devices = std::vector<AllowedDevice>{{"/opt/rocm/share/rocdxg/dids.conf", 0x7480, "gfx1102"}};
  CHECK(status("wsl.gpu-allowlist", facts) == Status::info);
}

TEST_CASE("libdxcore: absent, not findable by name, or without the needed functions") {
  Facts facts = wsl2_9070xt("7.2.1");
  facts.wsl.dxcore_missing_symbols = std::vector<std::string>{"D3DKMTCreateHwQueue", "D3DKMTSubmitCommandToHwQueue"};
  CHECK(verdict("wsl.dxcore", facts).remedies.front().commands.front() == "wsl --update");
  facts.wsl.dxcore_findable = false;
  facts.wsl.conf_ldconfig = false;
  CHECK(status("wsl.dxcore", facts) == Status::fail);
  CHECK(contains(verdict("wsl.dxcore", facts).cause, "ldconfig=false"));
  facts.wsl.dxcore_path = ""s;
  CHECK(contains(verdict("wsl.dxcore", facts).cause, "too old"));
  facts.wsl.conf_gpu_enabled = false;
  CHECK(contains(verdict("wsl.dxcore", facts).cause, "enabled=false"));
  CHECK(status("wsl.conf", facts) == Status::skip);
  facts.platform.container = ContainerKind::podman;
  CHECK(contains(verdict("wsl.dxcore", facts).cause, "mount"));
}

TEST_CASE("a switch in wsl.conf that does no harm yet warns") {
  Facts facts = wsl2_9070xt("7.2.1");
  facts.wsl.conf_gpu_enabled = false;
  CHECK(status("wsl.conf", facts) == Status::warn);
  facts.platform.container = ContainerKind::docker;
  CHECK(status("wsl.conf", facts) == Status::skip);
}

TEST_CASE(".wslconfig is judged only when it was read") {
  Facts facts = wsl2_9070xt("7.2.1");
  CHECK(status("wsl.wslconfig", facts) == Status::skip);
  facts.deep = true;
  CHECK(status("wsl.wslconfig", facts) == Status::skip);
  facts.wsl.wslconfig_gpu_support = true;
  facts.wsl.wslconfig_safe_mode = false;
  CHECK(status("wsl.wslconfig", facts) == Status::pass);
  facts.wsl.wslconfig_safe_mode = true;
  CHECK(status("wsl.wslconfig", facts) == Status::warn);
}

TEST_CASE("a runtime before 7.1 fails; without a version the missing name only warns") {
  Facts facts = with_hsa({old_wheel()});
  const Finding finding = verdict("wsl.runtime", facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.remedies.front().commands.front(), "whl/rocm7.2"));
  facts.rocm.hsa.value()[0].rocm_version = Fact<std::string>::unknown("no version file");
  CHECK(status("wsl.runtime", facts) == Status::warn);
  facts.rocm.hsa.value()[0].rocm_version = "7.2.1"s;
  CHECK(status("wsl.runtime", facts) == Status::warn);
  facts.rocm.hsa = std::vector<HsaCopy>();
  CHECK(status("wsl.runtime", facts) == Status::warn);
}

TEST_CASE("ROCm 10.1 is newer than 7.13, so it needs no variable") {
  CHECK(status("wsl.dxg-detection-off", detection("10.1.0", std::nullopt)) == Status::pass);
}

TEST_CASE("a native-only copy beside a capable one warns; its removal is advised for roc4wsl alone") {
  const Finding modern = verdict("wsl.runtime", with_hsa({stock("7.2.1"), old_wheel()}));
  CHECK(modern.status == Status::warn);
  for (const Remedy& remedy : modern.remedies) {
    for (const std::string& command : remedy.commands) CHECK_FALSE(contains(command, "rm "));
  }
  const Finding era_a = verdict("wsl.runtime", with_hsa({roc4wsl(), old_wheel()}));
  CHECK(era_a.status == Status::warn);
  CHECK(era_a.remedies.front().commands.front() ==
        "rm /home/user1/venv/lib/python3.12/site-packages/torch/lib/libhsa-runtime64.so*");
}

TEST_CASE("the distribution's copy has its own row") {
  const Facts facts = with_hsa({stock("7.2.1"), old_distribution()});
  CHECK(status("wsl.runtime", facts) == Status::pass);
  const Finding finding = verdict("wsl.distro-rocm", facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.remedies.front().commands.front() == "sudo apt remove libhsa-runtime64-1 libhsakmt1 rocminfo");
  CHECK(status("wsl.runtime", with_hsa({old_distribution()})) == Status::fail);
  CHECK(status("wsl.distro-rocm", with_hsa({old_distribution()})) == Status::skip);
}

TEST_CASE("HSA_ENABLE_DXG_DETECTION is judged by the version of the runtime") {
  struct Case {
    const char* version;
    std::optional<std::string> value;
    Status expected;
  };
  const Case cases[] = {
      {"7.1.0", std::nullopt, Status::fail},
      {"7.2.4", std::nullopt, Status::fail},
      {"7.12.0", std::nullopt, Status::fail},
      {"7.2.4", "true", Status::fail},
      {"7.2.4", "", Status::fail},
      {"7.2.4", "1", Status::pass},
      {"7.2.4", "0", Status::fail},
      {"7.13.0", std::nullopt, Status::pass},
      {"7.14.0", "1", Status::pass},
      {"7.14.0", "0", Status::fail},
      {"10.1.0", "0", Status::fail},
      {"10.1.0", "yes", Status::pass},
  };
  for (const Case& one : cases) {
    CAPTURE(one.version);
    CAPTURE(one.value.value_or("(not set)"));
    CHECK(status("wsl.dxg-detection-off", detection(one.version, one.value)) == one.expected);
  }
}

TEST_CASE("a runtime of unknown version gets no verdict beyond what holds for all") {
  Facts facts = detection("7.2.1", std::nullopt);
  facts.rocm.hsa.value()[0].rocm_version = Fact<std::string>::unknown("no version file");
  CHECK(status("wsl.dxg-detection-off", facts) == Status::warn);
  set_variable(facts, "HSA_ENABLE_DXG_DETECTION", "1");
  CHECK(status("wsl.dxg-detection-off", facts) == Status::pass);
  set_variable(facts, "HSA_ENABLE_DXG_DETECTION", "0");
  CHECK(status("wsl.dxg-detection-off", facts) == Status::fail);
}

TEST_CASE("roc4wsl needs neither the variable nor librocdxg") {
  Facts facts = with_hsa({roc4wsl()});
  set_variable(facts, "HSA_ENABLE_DXG_DETECTION", std::nullopt);
  facts.rocm.rocdxg = std::vector<RocdxgCopy>();
  CHECK(status("wsl.runtime", facts) == Status::pass);
  CHECK(status("wsl.dxg-detection-off", facts) == Status::pass);
  CHECK(status("wsl.rocdxg", facts) == Status::skip);
  set_variable(facts, "HSA_ENABLE_DXG_DETECTION", "0");
  CHECK(status("wsl.dxg-detection-off", facts) == Status::warn);
}

TEST_CASE("the variable only in ~/.bashrc warns; the remedy names ~/.profile") {
  Facts facts = detection("7.2.1", "1");
  set_assignments(facts, "HSA_ENABLE_DXG_DETECTION", {{"/home/user1/.bashrc", 118, "1"}});
  const Finding finding = verdict("wsl.dxg-detection-off", facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.evidence.back().source == "/home/user1/.bashrc line 118");
  CHECK(contains(finding.remedies.front().commands.front(), ">> ~/.profile"));
  set_assignments(facts, "HSA_ENABLE_DXG_DETECTION", {{"/home/user1/.bashrc", 118, "1"}, {"/etc/environment", 2, "1"}});
  CHECK(status("wsl.dxg-detection-off", facts) == Status::pass);
}

TEST_CASE("librocdxg: absent fails, out of the loader's reach warns, a run path is a way too") {
  Facts facts = wsl2_9070xt("7.2.1");
  facts.rocm.rocdxg = std::vector<RocdxgCopy>();
  CHECK(status("wsl.rocdxg", facts) == Status::fail);
  facts = bridge_out_of_reach();
  CHECK(status("wsl.rocdxg", facts) == Status::warn);
  facts.rocm.hsa.value()[0].runpath = std::vector<std::string>{"/opt/rocm/lib"};
  CHECK(status("wsl.rocdxg", facts) == Status::pass);
  facts.rocm.rocdxg.value()[0].exports_thunk = false;
  CHECK(status("wsl.rocdxg", facts) == Status::warn);
}

TEST_CASE("HSA_ENABLE_DTIF=1 warns") {
  Facts facts = wsl2_9070xt("7.2.1");
  CHECK(status("wsl.dtif", facts) == Status::pass);
  set_variable(facts, "HSA_ENABLE_DTIF", "1");
  CHECK(status("wsl.dtif", facts) == Status::warn);
}

TEST_CASE("the Windows driver is told, never judged") {
  Facts facts = wsl2_9070xt("7.2.1");
  CHECK(contains(verdict("wsl.windows-driver", facts).observed, "32.0.31041.1004"));
  facts.wsl.adapters.value()[0].driver_version = Fact<std::string>::unknown("EINVAL");
  CHECK(status("wsl.windows-driver", facts) == Status::info);
}

TEST_CASE("blanking a fact turns no wsl verdict into a pass") {
  Facts only_bashrc = detection("7.2.1", "1");
  set_assignments(only_bashrc, "HSA_ENABLE_DXG_DETECTION", {{"/home/user1/.bashrc", 118, "1"}});
  Facts no_amd = wsl2_9070xt("7.2.1");
  no_amd.gpus.amd = std::vector<Gpu>();
  no_amd.wsl.adapters.value()[0].vendor_id = 0x10deU;
  Facts no_dxcore = wsl2_9070xt("7.2.1");
  no_dxcore.wsl.dxcore_path = ""s;
  Facts no_symbols = wsl2_9070xt("7.2.1");
  no_symbols.wsl.dxcore_missing_symbols = std::vector<std::string>{"D3DKMTCreateHwQueue"};
  Facts wsl_conf = wsl2_9070xt("7.2.1");
  wsl_conf.wsl.conf_gpu_enabled = false;
  wsl_conf.wsl.conf_ldconfig = false;
  Facts no_bridge = wsl2_9070xt("7.2.1");
  no_bridge.rocm.rocdxg = std::vector<RocdxgCopy>();
  Facts wslconfig = wsl2_9070xt("7.2.1");
  wslconfig.deep = true;
  wslconfig.wsl.wslconfig_gpu_support = false;
  wslconfig.wsl.wslconfig_safe_mode = true;
  Facts refused = wsl2_9070xt("7.2.1");
  refused.devices.dxg.open = Errno{EACCES};
  const std::vector<Facts> machines = {
      wsl2_9070xt("7.2.1"),
      wsl2_9070xt("10.1.0"),
      dxg_gone(),
      rx_7600(),
      bridge_out_of_reach(),
      detection("7.2.1", std::nullopt),
      detection("7.14.0", "0"),
      only_bashrc,
      no_amd,
      no_dxcore,
      no_symbols,
      wsl_conf,
      no_bridge,
      wslconfig,
      refused,
      with_hsa({old_wheel()}),
      with_hsa({stock("7.2.1"), old_wheel()}),
      with_hsa({stock("7.2.1"), old_distribution()}),
      with_hsa({roc4wsl(), old_wheel()}),
      with_hsa({roc4wsl(), stock("7.14.0")}),
  };
  for (const Facts& facts : machines) CHECK(join(passes_by_ignorance(facts), "; ") == "");
}

}  // namespace sage
