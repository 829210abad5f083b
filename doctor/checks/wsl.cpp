// The way from a Linux program to the GPU of Windows, up to the point where ROCm takes over: /dev/dxg, the adapters
// behind it, libdxcore and the switches that turn them off. Facts: facts/wsl.md 2.4 to 2.8, W2, W3, W8, W9.
//
// Order of cause: platform.wsl1, wsl.dxg-present, wsl.dxg-access, gpu.present, then everything else. So these rows and
// those of topic gpu depend on each other's, without a circle. No row here asks for /dev/kfd, /dev/dri or groups: under
// WSL2 the first two do not exist and the third plays no part.

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "doctor/checks/registry.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "doctor/checks/wsl_rows.hpp"
#include "probes/base/text.hpp"
#include "probes/pci.hpp"

namespace sage {
namespace {

Remedy edit_wslconfig() {
  return restart_wsl(
      "Open .wslconfig in your Windows user folder, remove gpuSupport=false and safeMode=true below "
      "[wsl2], then restart WSL from PowerShell.");
}

bool off_in_wslconfig(const Facts& facts) {
  return facts.wsl.wslconfig_gpu_support.is(false) || facts.wsl.wslconfig_safe_mode.is(true);
}

void add_wslconfig(const Facts& facts, Finding& finding) {
  const Wsl& wsl = facts.wsl;
  if (wsl.wslconfig_gpu_support.known()) {
    finding.evidence.push_back({".wslconfig [wsl2] gpuSupport", *wsl.wslconfig_gpu_support ? "true" : "false"});
  }
  if (wsl.wslconfig_safe_mode.known()) {
    finding.evidence.push_back({".wslconfig [wsl2] safeMode", *wsl.wslconfig_safe_mode ? "true" : "false"});
  }
}

// ---- wsl.dxg-present

// Why WSL2 itself, outside any container, has no /dev/dxg.
void explain_missing_dxg(const Facts& facts, Finding& finding) {
  const auto& folder = facts.wsl.library_folder;
  finding.evidence.push_back({std::string(windows_libraries), folder.known()
                                                                  ? (*folder ? "present" : "absent")
                                                                  : "unknown: " + folder.why_unknown().text});
  add_wslconfig(facts, finding);
  if (off_in_wslconfig(facts)) {
    finding.cause = "The .wslconfig of Windows switches the GPU of WSL off.";
    finding.confidence = Confidence::likely;
    finding.remedies = {edit_wslconfig()};
  } else if (folder.is(true)) {
    finding.cause =
        "WSL offers its GPU libraries but its kernel made no device: the Windows driver does not serve WSL, or "
        "a kernel of your own (kernel= in .wslconfig) lacks CONFIG_DXGKRNL.";
    finding.confidence = Confidence::possible;
    finding.remedies = {update_windows_driver(), update_wsl()};
  } else {
    finding.cause =
        "The GPU support of WSL is off (gpuSupport or safeMode in .wslconfig), or WSL is too old to have it.";
    finding.confidence = folder.known() ? Confidence::likely : Confidence::possible;
    finding.remedies = {update_wsl(), edit_wslconfig()};
  }
}

std::vector<Finding> dxg_present(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_off_wsl(facts)) return {*skip};
  const DeviceNode& dxg = facts.devices.dxg;
  if (auto skip = skip_unless_known({{"devices.dxg.present", &dxg.present}})) return {*skip};

  if (*dxg.present) {
    if (auto skip = skip_unless_known({{"devices.dxg.character_device", &dxg.character_device}})) return {*skip};
    if (*dxg.character_device) return {pass("/dev/dxg, the GPU of Windows, is there")};
  }

  Finding finding =
      fail(*dxg.present ? "/dev/dxg is there but is not a device" : "/dev/dxg is missing: without it WSL2 has no GPU");
  finding.evidence.push_back({"/dev/dxg", *dxg.present ? "not a character device" : "absent"});
  if (in_container(facts)) {
    const std::string kind(enum_name(*facts.platform.container));
    finding.evidence.push_back({"container", kind});
    finding.cause = *dxg.present
                        ? "A volume was mounted at /dev/dxg, or the file was made by hand; a container gets the "
                          "device only by --device."
                        : "This " + kind + " container was started without the device.";
    finding.confidence = Confidence::likely;
    finding.remedies = {pass_dxg_into_container()};
  } else {
    explain_missing_dxg(facts, finding);
  }
  finding.verify = "ls -l /dev/dxg";
  return {finding};
}

// ---- wsl.dxg-access

std::vector<Finding> dxg_access(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_off_wsl(facts)) return {*skip};
  const DeviceNode& dxg = facts.devices.dxg;
  if (auto skip = skip_unless_known({{"devices.dxg.present", &dxg.present}})) return {*skip};
  if (!*dxg.present) return {not_applicable("there is no /dev/dxg")};
  if (auto skip = skip_unless_known({{"devices.dxg.open", &dxg.open}})) return {*skip};
  if (dxg.open->ok()) return {pass("/dev/dxg opens for reading and writing")};

  const int error = dxg.open->value;
  const bool refused = error == EACCES || error == EPERM;
  Finding finding = fail("/dev/dxg does not open: " + errno_text(*dxg.open) + " (" + errno_name(*dxg.open) + ")");
  finding.evidence.push_back({"open /dev/dxg for reading and writing", errno_name(*dxg.open)});
  finding.evidence.push_back({"/dev/dxg", owner_and_mode(dxg) + "; WSL makes it with mode 0666"});
  if (refused && in_container(facts)) {
    finding.cause =
        "The container may not use the device: it was mounted but not passed with --device, or the container "
        "runs in a user namespace.";
    finding.confidence = Confidence::likely;
    finding.remedies = {pass_dxg_into_container()};
  } else if (refused) {
    finding.cause =
        "WSL makes /dev/dxg usable for everybody, so something here changed its permissions: a udev rule, a "
        "script or a user namespace. Groups play no part.";
    finding.confidence = Confidence::likely;
    finding.remedies = {
        restart_wsl("Restart WSL from PowerShell: it makes the device anew with the right permissions."),
        {"If it comes back, look for what changes it.", {"grep -rn dxg /etc/udev/rules.d /etc/wsl.conf"}, {}}};
  } else {
    finding.cause = "The kernel of WSL has no working connection to the GPU driver of Windows.";
    finding.confidence = Confidence::possible;
    finding.remedies = {restart_wsl("Restart WSL from PowerShell."), update_windows_driver(), update_wsl()};
  }
  finding.verify = "sage-doctor check --only wsl.dxg-access";
  return {finding};
}

// ---- wsl.adapters

std::vector<Finding> adapters(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_off_wsl(facts)) return {*skip};
  const DeviceNode& dxg = facts.devices.dxg;
  if (auto skip = skip_unless_known({{"devices.dxg.present", &dxg.present}, {"devices.dxg.open", &dxg.open}}))
    return {*skip};
  if (!*dxg.present || !dxg.open->ok()) return {not_applicable("/dev/dxg cannot be used")};

  const auto& list = facts.wsl.adapters;
  if (!list.known()) {
    const int error = list.why_unknown().number;
    Finding finding = warn(error == ETIMEDOUT ? "/dev/dxg opens but did not answer in time, so the GPU is unknown"
                                              : "/dev/dxg opens but did not tell its adapters, so the GPU is unknown");
    finding.evidence.push_back(
        {"/dev/dxg", list.why_unknown().text + (error != 0 ? " (" + errno_name({error}) + ")" : "")});
    finding.cause =
        "Windows did not answer: its driver was replaced while WSL was running, or it hangs. This does not say "
        "that there is no AMD GPU.";
    finding.confidence = Confidence::possible;
    finding.remedies = {restart_wsl("Restart WSL from PowerShell and check again."), update_windows_driver()};
    finding.verify = "sage-doctor check --only wsl.adapters";
    return {finding};
  }

  Finding finding = pass("");
  bool all_told = true;
  for (const DxgAdapter& adapter : *list) {
    all_told = all_told && adapter.vendor_id.known();
    finding.evidence.push_back({"/dev/dxg adapter", (adapter.vendor_id.known() ? hex(*adapter.vendor_id, 4) : "?") +
                                                        ":" +
                                                        (adapter.device_id.known() ? hex(*adapter.device_id, 4) : "?") +
                                                        " " + adapter.name.value_or("without a name")});
  }
  if (!all_told) {
    finding.status = Status::warn;
    finding.observed = "an adapter behind /dev/dxg did not tell its vendor, so it is unknown whether it is an AMD GPU";
    finding.cause = "The Windows driver or WSL is too old to answer the question, or did not answer this time.";
    finding.confidence = Confidence::possible;
    finding.remedies = {update_wsl(), update_windows_driver()};
    finding.verify = "sage-doctor check --only wsl.adapters";
    return {finding};
  }
  finding.observed = "/dev/dxg answers and shows " + counted(list->size(), "adapter");
  return {finding};
}

// ---- wsl.wslconfig

std::vector<Finding> wslconfig(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  if (!facts.deep.is(true)) return {not_applicable("the Windows side is read only with --deep")};
  if (auto skip = skip_unless_known({{"wsl.wslconfig_gpu_support", &facts.wsl.wslconfig_gpu_support},
                                     {"wsl.wslconfig_safe_mode", &facts.wsl.wslconfig_safe_mode}})) {
    return {*skip};
  }
  if (!off_in_wslconfig(facts)) return {pass(".wslconfig leaves the GPU support on")};
  Finding finding = warn(facts.wsl.wslconfig_gpu_support.is(false) ? ".wslconfig says gpuSupport=false"
                                                                   : ".wslconfig says safeMode=true");
  add_wslconfig(facts, finding);
  finding.cause = "WSL gets no GPU with this setting; it takes effect when WSL starts again.";
  finding.confidence = Confidence::possible;
  finding.remedies = {edit_wslconfig()};
  finding.verify = "sage-doctor check --deep --only wsl.wslconfig";
  return {finding};
}

// ---- wsl.dtif

std::vector<Finding> dtif(const CheckInput& input) {
  const Facts& facts = input.facts;
  constexpr std::string_view variable = "HSA_ENABLE_DTIF";
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  const auto value = facts.environment.get(variable);
  if (auto skip = skip_unless_known({{"environment HSA_ENABLE_DTIF", &value}})) return {*skip};
  if (*value != "1") return {pass("HSA_ENABLE_DTIF does not lead the runtime elsewhere")};
  Finding finding =
      warn("HSA_ENABLE_DTIF is 1: the runtime loads libdtif.so instead of looking for the GPU of Windows");
  add_variable(facts, variable, finding);
  finding.cause = "The variable is for tests of a simulated GPU and is asked before /dev/dxg.";
  finding.confidence = Confidence::likely;
  finding.remedies = remove_variable(facts, variable);
  finding.verify = verify_gpu_works(facts, "wsl.dtif");
  return {finding};
}

// ---- wsl.windows-driver

std::vector<Finding> windows_driver(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"wsl.adapters", &facts.wsl.adapters}})) return {*skip};
  std::vector<std::string> versions;
  Finding finding = info("");
  for (const DxgAdapter& adapter : *facts.wsl.adapters) {
    if (!adapter.vendor_id.is(amd_vendor_id)) continue;
    if (adapter.driver_version.known() &&
        std::find(versions.begin(), versions.end(), *adapter.driver_version) == versions.end()) {
      versions.push_back(*adapter.driver_version);
    }
    std::string text = adapter.driver_version.known() ? "driver " + *adapter.driver_version : "driver version unknown";
    if (adapter.wddm_version.known()) {
      text += ", WDDM " + std::to_string(*adapter.wddm_version / 1000) + "." +
              std::to_string(*adapter.wddm_version % 1000 / 100);
    }
    finding.evidence.push_back({"/dev/dxg adapter " + adapter.name.value_or("without a name"), std::move(text)});
  }
  if (facts.wsl.windows_adapters.known()) {
    for (const std::string& line : *facts.wsl.windows_adapters)
      finding.evidence.push_back({"Win32_VideoController", line});
  }
  finding.observed =
      (versions.empty() ? "the version of the AMD driver in Windows is unknown"
                        : "the AMD driver in Windows is " + join(versions, " and ")) +
      "; ROCm 7.2.1 and newer want Adrenalin 26.2.2 or newer, ROCm 6 the one release that AMD names for it";
  return {finding};
}

}  // namespace

std::vector<Check> wsl_checks() {
  const auto row = [](std::string_view id, std::string_view title, std::vector<std::string_view> depends,
                      CheckFunction run) {
    return Check{id, title, Topic::wsl, std::move(depends), run, skip_on_other_machines};
  };
  return {
      row("wsl.dxg-present", "The GPU device of WSL2 is there", {"platform.wsl1"}, dxg_present),
      row("wsl.dxg-access", "The GPU device of WSL2 opens", {"wsl.dxg-present"}, dxg_access),
      row("wsl.adapters", "Windows tells its GPUs", {"wsl.dxg-access"}, adapters),
      row("wsl.gpu-allowlist", "ROCm accepts the GPU under WSL", {"gpu.present"}, check_gpu_allowlist),
      row("wsl.dxcore", "The library to Windows is complete", {"gpu.present"}, check_dxcore),
      row("wsl.conf", "wsl.conf leaves the GPU on", {"gpu.present"}, check_wsl_conf),
      row("wsl.wslconfig", ".wslconfig leaves the GPU on", {"gpu.present"}, wslconfig),
      row("wsl.windows-driver", "The driver in Windows", {"gpu.present"}, windows_driver),
      row("wsl.runtime", "A ROCm runtime that can talk to Windows", {"gpu.present"}, check_wsl_runtime),
      row("wsl.distro-rocm", "No ROCm of the distribution in the way", {"gpu.present"}, check_distro_rocm),
      row("wsl.dxg-detection-off", "The runtime looks for /dev/dxg", {"wsl.runtime"}, check_dxg_detection),
      row("wsl.rocdxg", "The bridge librocdxg is found", {"wsl.runtime"}, check_rocdxg),
      row("wsl.dtif", "The runtime is not led elsewhere", {"gpu.present"}, dtif),
  };
}

}  // namespace sage
