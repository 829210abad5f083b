#include <doctest/doctest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doctor/checks/registry.hpp"
#include "doctor/checks/runner.hpp"
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

TEST_CASE("on bare metal without a GPU the rows about WSL wait for nothing") {
  Facts facts = bare_metal_9070xt();
  facts.gpus.amd = std::vector<Gpu>();
  std::vector<const Check*> selected;
  for (const Check& check : all_checks()) {
    if (check.topic == Topic::wsl) selected.push_back(&check);
  }
  for (const Finding& finding : run_checks(all_checks(), selected, {facts, tables()})) {
    if (finding.topic == Topic::wsl) CHECK(finding.observed == "does not apply: this is not WSL2");
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
  CHECK(finding.remedies.back().commands ==
        std::vector<std::string>{"sudo mkdir -p /opt/rocm/share/rocdxg",
                                 "echo '0x7480,11,0,2' | sudo tee -a /opt/rocm/share/rocdxg/dids.conf"});
  set_variable(facts, "HSA_OVERRIDE_GFX_VERSION", "11.0.0");
  CHECK(contains(verdict("wsl.gpu-allowlist", facts).evidence.back().value, "does not add a GPU"));
  facts.wsl.allowed_devices = std::vector<AllowedDevice>{{"/opt/rocm/share/rocdxg/dids.conf", 0x7480, "gfx1102"}};
  CHECK(status("wsl.gpu-allowlist", facts) == Status::info);
}

TEST_CASE("an integrated GPU outside the list, beside an accepted card, is only told") {
  Facts facts = rx_7600();
  Gpu card = facts.gpus.amd->front();
  card.device_id = 0x7550;
  card.kind = GpuKind::discrete;
  facts.gpus.amd.value().front().kind = GpuKind::integrated;
  facts.gpus.amd.value().push_back(card);
  CHECK(judge("wsl.gpu-allowlist", facts).front().status == Status::info);
  facts.gpus.amd.value().back().device_id = 0x7480;
  CHECK(judge("wsl.gpu-allowlist", facts).front().status == Status::warn);
}

TEST_CASE("a further id goes beside the librocdxg that the loader finds, without sudo below home") {
  Facts facts = rx_7600();
  RocdxgCopy in_venv = facts.rocm.rocdxg->front();
  in_venv.path = "/home/user1/venv/lib/librocdxg.so";
  in_venv.in_loader_cache = false;
  facts.rocm.rocdxg.value().insert(facts.rocm.rocdxg.value().begin(), in_venv);
  CHECK(verdict("wsl.gpu-allowlist", facts).remedies.back().commands.front() == "sudo mkdir -p /opt/rocm/share/rocdxg");

  facts.rocm.rocdxg.value()[0].in_library_path = true;
  const Remedy own = verdict("wsl.gpu-allowlist", facts).remedies.back();
  CHECK(own.commands ==
        std::vector<std::string>{"mkdir -p /home/user1/venv/share/rocdxg",
                                 "echo '0x7480,11,0,2' | tee -a /home/user1/venv/share/rocdxg/dids.conf"});
  CHECK(own.needs.empty());
}

TEST_CASE("a line of wsl.conf is removed by a command, not by words alone") {
  Facts no_library = wsl2_9070xt("7.2.1");
  no_library.wsl.dxcore_path = ""s;
  no_library.wsl.conf_gpu_enabled = false;
  Facts not_findable = wsl2_9070xt("7.2.1");
  not_findable.wsl.dxcore_findable = false;
  not_findable.wsl.conf_ldconfig = false;
  Facts harmless = wsl2_9070xt("7.2.1");
  harmless.wsl.conf_gpu_enabled = false;
  const std::vector<std::string> commands = {"sudo ${EDITOR:-nano} +1 /etc/wsl.conf", "wsl --shutdown"};
  for (const Finding& finding :
       {verdict("wsl.dxcore", no_library), verdict("wsl.dxcore", not_findable), verdict("wsl.conf", harmless)}) {
    CHECK(finding.remedies.front().commands == commands);
    CHECK(finding.remedies.front().needs.front() == Need::sudo);
  }
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

TEST_CASE("only a wheel known to be older than ROCm 7.1 loses its runtime, and the cause goes by the version") {
  CHECK(contains(verdict("wsl.runtime", with_hsa({roc4wsl(), old_wheel()})).cause, "before ROCm 7.1"));
  HsaCopy newer = old_wheel();
  newer.rocm_version = "7.2.0"s;
  HsaCopy ageless = old_wheel();
  ageless.rocm_version = Fact<std::string>::unknown("no version file");
  for (const HsaCopy& wheel : {newer, ageless}) {
    const Finding finding = verdict("wsl.runtime", with_hsa({roc4wsl(), wheel}));
    CHECK(finding.status == Status::warn);
    CHECK(contains(finding.cause, "names neither librocdxg nor D3DKMT"));
    for (const Remedy& remedy : finding.remedies) {
      for (const std::string& command : remedy.commands) CHECK_FALSE(command.starts_with("rm "));
    }
  }
}

TEST_CASE("PyTorch is replaced by the pip of the environment that it lies in") {
  const auto pip = [](std::string path) {
    HsaCopy wheel = old_wheel();
    wheel.path = std::move(path);
    return verdict("wsl.runtime", with_hsa({wheel})).remedies.front().commands.front();
  };
  CHECK(pip(torch_hsa).starts_with("/home/user1/venv/bin/python -m pip install "));
  CHECK(pip("/home/user1/python3-lab/lib64/python3.12/site-packages/torch/lib/libhsa-runtime64.so")
            .starts_with("/home/user1/python3-lab/bin/python -m pip "));
  CHECK(pip("/home/user1/.local/lib/python3.12/site-packages/torch/lib/libhsa-runtime64.so")
            .starts_with("python3 -m pip "));
  CHECK(pip("/usr/lib/python3/dist-packages/torch/lib/libhsa-runtime64.so").starts_with("python3 -m pip "));
  CHECK(pip("/srv/torch/lib/libhsa-runtime64.so").starts_with("python3 -m pip "));
}

TEST_CASE("rows about the runtime verify with rocminfo only where a ROCm folder is") {
  Facts facts = detection("7.2.1", std::nullopt);
  CHECK(verdict("wsl.dxg-detection-off", facts).verify == "rocminfo | grep gfx");
  facts.rocm.roots = std::vector<RocmRoot>();
  CHECK(verdict("wsl.dxg-detection-off", facts).verify == "sage-doctor check --only wsl.dxg-detection-off");
  Facts bridge = bridge_out_of_reach();
  bridge.rocm.roots = std::vector<RocmRoot>();
  CHECK(verdict("wsl.rocdxg", bridge).verify == "sage-doctor check --only wsl.rocdxg");
  Facts old = with_hsa({old_wheel()});
  CHECK(verdict("wsl.runtime", old).verify == "sage-doctor check --only wsl.runtime");
}

TEST_CASE("one missing variable is told in the same words for every runtime") {
  HsaCopy second = stock("7.2.1");
  second.path = torch_hsa;
  for (const auto& value : {std::optional<std::string>(), std::optional<std::string>("0")}) {
    HsaCopy newest = stock("7.14.0");
    newest.path = "/opt/rocm-7.14.0/lib/libhsa-runtime64.so.1";
    Facts facts = with_hsa(value ? std::vector<HsaCopy>{stock("7.2.1"), second, newest}
                                 : std::vector<HsaCopy>{stock("7.2.1"), second});
    set_variable(facts, "HSA_ENABLE_DXG_DETECTION", value);
    set_assignments(facts, "HSA_ENABLE_DXG_DETECTION", {});
    const auto findings = judge("wsl.dxg-detection-off", facts);
    REQUIRE(findings.size() == facts.rocm.hsa->size());
    for (const Finding& finding : findings) {
      CHECK(finding.status == Status::fail);
      CHECK(finding.cause == findings.front().cause);
      CHECK(finding.verify == findings.front().verify);
      REQUIRE(finding.remedies.size() == findings.front().remedies.size());
      for (std::size_t i = 0; i < finding.remedies.size(); ++i) {
        CHECK(finding.remedies[i].text == findings.front().remedies[i].text);
        CHECK(finding.remedies[i].commands == findings.front().remedies[i].commands);
      }
    }
  }
}

TEST_CASE("no command of topic wsl has a gap to fill in but IMAGE") {
  Facts facts = detection("7.2.1", std::nullopt);
  facts.platform.container = ContainerKind::docker;
  const std::string command = verdict("wsl.dxg-detection-off", facts).remedies.front().commands.front();
  CHECK(contains(command, "-e HSA_ENABLE_DXG_DETECTION=1"));
  CHECK(command.ends_with(" IMAGE"));
}

TEST_CASE("the package manager of the distribution removes its runtime") {
  Facts facts = with_hsa({stock("7.2.1"), old_distribution()});
  const auto command = [&](const char* id) {
    facts.platform.distribution.id = std::string(id);
    facts.platform.distribution.id_like = ""s;
    return verdict("wsl.distro-rocm", facts).remedies.front().commands.front();
  };
  CHECK(command("fedora") == "sudo dnf remove \"$(rpm -qf --qf '%{NAME}' " + std::string(distro_hsa) + ")\"");
  CHECK(command("arch") == "sudo pacman -Rc \"$(pacman -Qqo " + std::string(distro_hsa) + ")\"");
  CHECK(command("opensuse-tumbleweed").starts_with("sudo zypper remove "));
  CHECK(command("nixos") == "sudo ldconfig");
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
