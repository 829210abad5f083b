// Which ROCm runtime can talk to Windows, and what does it need for that? Facts: facts/wsl.md 2.1, 2.4, 2.11, W4 to W7.
//
// On WSL2 everything hangs on the libhsa-runtime64 that a program loads, and a machine often has several: in /opt/rocm,
// bundled with a PyTorch wheel, from the distribution. There are four kinds:
//
//   linked in    "roc4wsl", ROCm 6.1 to 7.2.0: the way to Windows is part of the file (it names D3DKMT functions)
//   opt-in       stock ROCm 7.1 to 7.12: loads librocdxg.so, but only if HSA_ENABLE_DXG_DETECTION is exactly "1"
//   default-on   stock ROCm 7.13 and newer: loads librocdxg.so unless the variable is "0"
//   native only  stock ROCm before 7.1, and every distribution's build so far: never works on WSL2
//
// That a capable file contains the text "librocdxg" follows from its source but was not seen in a shipped file, so the
// absence of the text alone only warns; together with a version below 7.1 it fails. Every verdict "pass" needs all the
// facts known that could have made it worse.

#include "doctor/checks/wsl_copies.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "doctor/checks/wsl_common.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

Copy classify(const HsaCopy& hsa, std::size_t index) {
  const std::string place = "rocm.hsa[" + std::to_string(index) + "].";
  Copy copy{&hsa, Reach::unknown, std::nullopt};
  const std::string rocdxg_place = place + "names_rocdxg";
  const std::string d3dkmt_place = place + "names_d3dkmt";
  if (auto skip = skip_unless_known({{rocdxg_place, &hsa.names_rocdxg}, {d3dkmt_place, &hsa.names_d3dkmt}}, hsa.path)) {
    copy.why_unknown = std::move(skip);
    return copy;
  }
  const bool version_known = hsa.rocm_version.known() && parse_version(*hsa.rocm_version).has_value();
  const auto below = [&](std::string_view bound) { return version_known && version_below(*hsa.rocm_version, bound); };
  if (*hsa.names_rocdxg) {
    if (!version_known || below("7.1")) {
      copy.reach = Reach::bridge_of_unknown_age;
    } else {
      copy.reach = below("7.13") ? Reach::opt_in : Reach::default_on;
    }
  } else if (*hsa.names_d3dkmt) {
    copy.reach = Reach::linked_in;
  } else {
    copy.reach = below("7.1") ? Reach::native_only : Reach::probably_native;
  }
  return copy;
}

}  // namespace

std::vector<Copy> classified(const std::vector<HsaCopy>& all) {
  std::vector<Copy> copies;
  for (std::size_t i = 0; i < all.size(); ++i) copies.push_back(classify(all[i], i));
  return copies;
}

BridgeSearch search_for_bridge(const HsaCopy& hsa, const RocdxgCopy& bridge) {
  if (bridge.in_loader_cache.is(true) || bridge.in_library_path.is(true)) return BridgeSearch::found;
  if (hsa.runpath.known()) {
    const auto& folders = *hsa.runpath;
    if (std::find(folders.begin(), folders.end(), parent_folder(bridge.path)) != folders.end()) return BridgeSearch::found;
  }
  const bool all_known = bridge.in_loader_cache.known() && bridge.in_library_path.known() && hsa.runpath.known();
  return all_known ? BridgeSearch::not_found : BridgeSearch::unknown;
}

bool loads_bridge(const Copy& copy) {
  return copy.reach == Reach::opt_in || copy.reach == Reach::default_on || copy.reach == Reach::bridge_of_unknown_age;
}
bool capable(const Copy& copy) {
  return copy.reach == Reach::linked_in || loads_bridge(copy);
}
bool wants_detection(const Copy& copy) {
  return copy.reach == Reach::opt_in || copy.reach == Reach::bridge_of_unknown_age;
}

bool native(const Copy& copy) {
  return copy.reach == Reach::native_only || copy.reach == Reach::probably_native;
}

std::string release(const HsaCopy& hsa) {
  return hsa.rocm_version.known() ? "ROCm " + *hsa.rocm_version : "ROCm version unknown";
}

std::string reach_in_words(const Copy& copy) {
  switch (copy.reach) {
    case Reach::linked_in:
      return "talks to Windows by itself (roc4wsl)";
    case Reach::opt_in:
      return "can use /dev/dxg if HSA_ENABLE_DXG_DETECTION=1";
    case Reach::default_on:
      return "uses /dev/dxg by itself";
    case Reach::bridge_of_unknown_age:
      return "can use /dev/dxg";
    case Reach::native_only:
      return "cannot use /dev/dxg";
    case Reach::probably_native:
      return "shows no support for /dev/dxg";
    case Reach::unknown:
      return "not examined";
  }
  return "?";
}

void add_copies(const std::vector<Copy>& copies, Finding& finding) {
  for (const Copy& copy : copies)
    finding.evidence.push_back({copy.hsa->path, release(*copy.hsa) + ", " + reach_in_words(copy)});
}

std::vector<std::string> paths_of(const std::vector<Copy>& copies, bool (*wanted)(const Copy&)) {
  std::vector<std::string> paths;
  for (const Copy& copy : copies) {
    if (wanted(copy)) paths.push_back(copy.hsa->path);
  }
  return paths;
}

std::optional<Finding> first_unknown(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) {
    if (!copy.why_unknown) continue;
    Finding skip = *copy.why_unknown;
    skip.subject.clear();
    return skip;
  }
  return std::nullopt;
}

}  // namespace sage
