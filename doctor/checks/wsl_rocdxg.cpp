// librocdxg.so, the bridge between ROCm and Windows: is it there, does the loader find it for the runtime that wants
// it, and is it the library that it claims to be? Facts: facts/wsl.md 2.2, 2.4, W7.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "doctor/checks/wsl_copies.hpp"
#include "doctor/checks/wsl_rows.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// The releases hold a package for Debian's family alone (facts/wsl.md 2.2).
Remedy install_rocdxg(const Facts& facts) {
  const std::string releases = "https://github.com/ROCm/librocdxg/releases";
  if (package_family(facts.platform.distribution) == PackageFamily::debian) {
    return {"Download rocdxg-roct from " + releases +
                ", install it and refresh the loader's cache. ROCm 7.13 and newer may bring it along.",
            {"sudo apt install ./rocdxg-roct_*.deb", "sudo ldconfig"},
            {Need::sudo}};
  }
  return {"Build librocdxg from its source (" + releases +
              ", which has ready packages only for Debian and Ubuntu) and refresh the loader's cache. ROCm 7.13 and "
              "newer may bring it along.",
          {"sudo ldconfig"},
          {Need::sudo}};
}

Finding no_bridge(const Facts& facts, const std::vector<Copy>& copies) {
  const auto users = paths_of(copies, loads_bridge);
  Finding finding =
      fail("librocdxg.so was not found anywhere, and " + users.front() + " cannot reach the GPU without it");
  for (const std::string& path : users) finding.evidence.push_back({path, "loads librocdxg.so"});
  finding.cause =
      "The bridge between ROCm and Windows is not installed. ROCm does not fall back to anything else: it stops "
      "with \"Cannot load librocdxg.so\".";
  finding.remedies = {install_rocdxg(facts)};
  finding.verify = "ldconfig -p | grep librocdxg";
  return finding;
}

Finding bridge_not_findable(const Facts& facts, const HsaCopy& hsa, const std::vector<RocdxgCopy>& bridges) {
  Finding finding = warn(bridges.front().path + " is there, but " + hsa.path + " does not find it by name");
  for (const RocdxgCopy& bridge : bridges) {
    finding.evidence.push_back({bridge.path, "not in the loader's cache, not on LD_LIBRARY_PATH"});
  }
  finding.evidence.push_back({hsa.path + " run path", hsa.runpath->empty() ? "none" : join(*hsa.runpath, ":")});
  finding.cause =
      "The package or build did not refresh the loader's cache (librocdxg up to 1.2.0 never did), or the library "
      "lies in a folder that the loader does not search.";
  finding.confidence = Confidence::likely;
  finding.remedies = {
      {"Refresh the loader's cache.", {"sudo ldconfig", "ldconfig -p | grep librocdxg"}, {Need::sudo}},
      {"If the second command prints nothing, name the folder; put the line into ~/.profile to keep it.",
       {"export LD_LIBRARY_PATH=" + shell_word(parent_folder(bridges.front().path)) +
        "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"},
       {}},
  };
  finding.verify = verify_gpu_works(facts, "wsl.rocdxg");
  return finding;
}

Finding bridge_is_no_thunk(const Facts& facts, const RocdxgCopy& bridge) {
  Finding finding = warn(bridge.path + " does not export hsaKmtOpenKFD, the first function that ROCm calls in it");
  finding.evidence = {{bridge.path, "no hsaKmtOpenKFD"}};
  finding.cause = "The file is damaged or is another library of that name.";
  finding.confidence = Confidence::likely;
  finding.remedies = {install_rocdxg(facts)};
  finding.verify = verify_gpu_works(facts, "wsl.rocdxg");
  return finding;
}

}  // namespace

std::vector<Finding> check_rocdxg(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"rocm.hsa", &facts.rocm.hsa}, {"rocm.rocdxg", &facts.rocm.rocdxg}}))
    return {*skip};
  const std::vector<Copy> copies = classified(*facts.rocm.hsa);
  const auto unknown = first_unknown(copies);
  if (std::none_of(copies.begin(), copies.end(), loads_bridge)) {
    return {unknown ? *unknown : not_applicable("no runtime here loads librocdxg")};
  }
  const std::vector<RocdxgCopy>& bridges = *facts.rocm.rocdxg;
  if (bridges.empty()) return {no_bridge(facts, copies)};

  std::optional<Finding> undecided = unknown;
  std::vector<bool> used(bridges.size(), false);
  for (const Copy& copy : copies) {
    if (!loads_bridge(copy)) continue;
    bool found = false;
    bool maybe = false;
    for (std::size_t i = 0; i < bridges.size(); ++i) {
      const BridgeSearch result = search_for_bridge(*copy.hsa, bridges[i]);
      used[i] = used[i] || result == BridgeSearch::found;
      found = found || result == BridgeSearch::found;
      maybe = maybe || result == BridgeSearch::unknown;
    }
    if (!found && !maybe) return {bridge_not_findable(facts, *copy.hsa, bridges)};
    if (!found && !undecided) {
      undecided = make_finding(Status::skip, "unknown: whether the loader finds librocdxg for " + copy.hsa->path);
    }
  }
  Finding verdict = pass("");
  std::string first_used;
  for (std::size_t i = 0; i < bridges.size(); ++i) {
    if (!used[i]) continue;
    const std::string place = "rocm.rocdxg[" + std::to_string(i) + "].exports_thunk";
    if (bridges[i].exports_thunk.is(false)) return {bridge_is_no_thunk(facts, bridges[i])};
    if (auto skip = skip_unless_known({{place, &bridges[i].exports_thunk}}); skip && !undecided)
      undecided = std::move(skip);
    if (first_used.empty()) first_used = bridges[i].path;
    verdict.evidence.push_back({bridges[i].path, "the loader can find it"});
  }
  if (undecided) return {*undecided};
  verdict.observed = "the runtime finds its bridge to Windows: " + first_used +
                     (verdict.evidence.size() > 1 ? " (and others; the first on the loader's way wins)" : "");
  return {verdict};
}

}  // namespace sage
