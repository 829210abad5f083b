// libdxcore.so, the library through which ROCm talks to Windows, and the switches of /etc/wsl.conf that keep it away.
// WSL itself brings the library: it is mounted, and no Linux package has it. Facts: facts/wsl.md 2.6, 2.8, W3, W9.

#include <string>
#include <utility>
#include <vector>

#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "doctor/checks/wsl_rows.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

Finding no_dxcore(const Facts& facts) {
  Finding finding = fail("libdxcore.so, through which ROCm talks to Windows, was not found");
  finding.evidence.push_back({std::string(windows_libraries) + "/libdxcore.so", "absent"});
  if (facts.wsl.conf_gpu_enabled.is(false)) finding.evidence.push_back({"/etc/wsl.conf [gpu] enabled", "false"});
  if (in_container(facts)) {
    finding.cause = "The container was started without a mount of the library.";
    finding.confidence = Confidence::likely;
    finding.remedies = {pass_dxg_into_container()};
  } else if (facts.wsl.conf_gpu_enabled.is(false)) {
    finding.cause = "enabled=false below [gpu] in /etc/wsl.conf keeps WSL from mounting the GPU libraries.";
    finding.remedies = {edit_wsl_conf("enabled=false below [gpu]")};
  } else if (facts.platform.kind.is(PlatformKind::gpu_pv_guest)) {
    finding.cause = "This is a Hyper-V guest, not WSL: nothing mounts the library here.";
    finding.confidence = Confidence::likely;
    finding.remedies = {
        {"Copy libdxcore.so from C:\\Windows\\System32\\lxss\\lib of the host to /usr/lib and refresh the "
         "loader's cache.",
         {"sudo ldconfig"},
         {Need::sudo, Need::windows}}};
  } else {
    finding.cause =
        "WSL is too old or its installation is damaged: it mounts this library itself, no Linux package can.";
    finding.confidence = Confidence::likely;
    finding.remedies = {update_wsl()};
  }
  finding.verify = "ldconfig -p | grep libdxcore";
  return finding;
}

Finding dxcore_not_findable(const Facts& facts) {
  const std::string& path = *facts.wsl.dxcore_path;
  const std::string folder = parent_folder(path);
  Finding finding = fail(path + " is there, but the loader does not find it by its name");
  finding.evidence.push_back({path, "not in the loader's cache, not on LD_LIBRARY_PATH"});
  if (facts.wsl.ld_conf.known()) {
    finding.evidence.push_back({"/etc/ld.so.conf.d/ld.wsl.conf", *facts.wsl.ld_conf ? "present" : "absent"});
  }
  if (facts.wsl.conf_ldconfig.is(false)) finding.evidence.push_back({"/etc/wsl.conf [automount] ldconfig", "false"});
  const Remedy now{"Tell the loader of the folder.",
                   {"echo " + folder + " | sudo tee /etc/ld.so.conf.d/ld.wsl.conf", "sudo ldconfig"},
                   {Need::sudo}};
  if (facts.wsl.conf_ldconfig.is(false) && !in_container(facts)) {
    finding.cause =
        "ldconfig=false below [automount] in /etc/wsl.conf keeps WSL from telling the loader of the folder.";
    finding.remedies = {edit_wsl_conf("ldconfig=false below [automount]"), now};
  } else {
    finding.cause = "The loader's cache was not refreshed, or the folder is not in its configuration.";
    finding.confidence = Confidence::likely;
    finding.remedies = {now};
  }
  finding.verify = "ldconfig -p | grep libdxcore";
  return finding;
}

}  // namespace

std::vector<Finding> check_dxcore(const CheckInput& input) {
  const Facts& facts = input.facts;
  const Wsl& wsl = facts.wsl;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"wsl.dxcore_path", &wsl.dxcore_path}})) return {*skip};
  if (wsl.dxcore_path->empty()) return {no_dxcore(facts)};
  if (auto skip = skip_unless_known({{"wsl.dxcore_findable", &wsl.dxcore_findable}})) return {*skip};
  if (!*wsl.dxcore_findable) return {dxcore_not_findable(facts)};
  if (auto skip = skip_unless_known({{"wsl.dxcore_missing_symbols", &wsl.dxcore_missing_symbols}})) return {*skip};
  if (wsl.dxcore_missing_symbols->empty())
    return {pass(*wsl.dxcore_path + " is found and has all functions that ROCm needs")};

  const std::vector<std::string>& missing = *wsl.dxcore_missing_symbols;
  Finding finding =
      fail(*wsl.dxcore_path + " lacks " + std::to_string(missing.size()) + " of the functions that ROCm needs, " +
           missing.front() + (missing.size() > 1 ? " and others" : ""));
  finding.evidence.push_back({*wsl.dxcore_path, "missing: " + join(missing, ", ")});
  finding.cause = "WSL is older than ROCm's bridge to Windows wants it.";
  finding.confidence = Confidence::likely;
  finding.remedies = {update_wsl()};
  finding.verify = "sage-doctor check --only wsl.dxcore";
  return {finding};
}

std::vector<Finding> check_wsl_conf(const CheckInput& input) {
  const Facts& facts = input.facts;
  const Wsl& wsl = facts.wsl;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"platform.container", &facts.platform.container},
                                     {"wsl.dxcore_path", &wsl.dxcore_path},
                                     {"wsl.dxcore_findable", &wsl.dxcore_findable},
                                     {"wsl.conf_gpu_enabled", &wsl.conf_gpu_enabled},
                                     {"wsl.conf_ldconfig", &wsl.conf_ldconfig}})) {
    return {*skip};
  }
  if (in_container(facts)) return {not_applicable("/etc/wsl.conf has no effect in a container")};
  if (wsl.dxcore_path->empty() || !*wsl.dxcore_findable) return {not_applicable("wsl.dxcore tells it")};

  Finding finding = warn("/etc/wsl.conf switches parts of the GPU support off, which does no harm yet");
  if (!*wsl.conf_gpu_enabled) finding.evidence.push_back({"/etc/wsl.conf [gpu] enabled", "false"});
  if (!*wsl.conf_ldconfig) finding.evidence.push_back({"/etc/wsl.conf [automount] ldconfig", "false"});
  if (finding.evidence.empty()) return {pass("/etc/wsl.conf leaves the GPU support on")};
  finding.cause =
      "WSL reads the file when a distribution starts: the setting is newer than the last start, or the libraries "
      "are found in another way. After a restart the GPU may be gone.";
  finding.confidence = Confidence::possible;
  finding.remedies = {edit_wsl_conf("the lines above")};
  finding.verify = "cat /etc/wsl.conf";
  return {finding};
}

}  // namespace sage
