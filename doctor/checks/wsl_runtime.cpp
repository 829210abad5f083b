// Which ROCm runtime can talk to Windows, and does it get what it needs? Facts: facts/wsl.md 2.1, 2.4, 2.11, W4 to W7.
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

#include "doctor/checks/wsl_runtime.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

constexpr std::string_view detection_variable = "HSA_ENABLE_DXG_DETECTION";

enum class Reach {
  linked_in,
  opt_in,
  default_on,
  bridge_of_unknown_age,  ///< names librocdxg, version unknown or contradictory
  native_only,
  probably_native,  ///< names neither, but no version below 7.1 confirms it
  unknown,
};

struct Copy {
  const HsaCopy* hsa = nullptr;
  Reach reach = Reach::unknown;
  std::optional<Finding> why_unknown;  ///< the skip that names the fact
};

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

std::vector<Copy> classified(const std::vector<HsaCopy>& all) {
  std::vector<Copy> copies;
  for (std::size_t i = 0; i < all.size(); ++i) copies.push_back(classify(all[i], i));
  return copies;
}

bool loads_bridge(const Copy& copy) {
  return copy.reach == Reach::opt_in || copy.reach == Reach::default_on || copy.reach == Reach::bridge_of_unknown_age;
}
bool capable(const Copy& copy) {
  return copy.reach == Reach::linked_in || loads_bridge(copy);
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

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// The skip of the first copy that could not be examined, said of the check as a whole.
std::optional<Finding> first_unknown(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) {
    if (!copy.why_unknown) continue;
    Finding skip = *copy.why_unknown;
    skip.subject.clear();
    return skip;
  }
  return std::nullopt;
}

// What to install instead of these native-only copies.
std::vector<Remedy> newer_rocm(const std::vector<Copy>& copies) {
  std::vector<Remedy> remedies;
  const bool in_wheel = std::any_of(copies.begin(), copies.end(), [](const Copy& copy) {
    return native(copy) && copy.hsa->origin.is(LibraryOrigin::torch_wheel);
  });
  if (in_wheel) {
    remedies.push_back({"In the Python environment, replace PyTorch by a build for ROCm 7.2 or newer.",
                        {"pip install --force-reinstall torch torchvision --index-url "
                         "https://download.pytorch.org/whl/rocm7.2"},
                        {}});
  }
  remedies.push_back(
      {"Install ROCm 7.2.1 or newer and librocdxg by AMD's guide for WSL: "
       "https://rocm.docs.amd.com/projects/radeon-ryzen/en/latest/docs/install/installrad/wsl/howto_wsl.html",
       {},
       {Need::sudo}});
  return remedies;
}

void append(std::vector<Remedy>& remedies, std::vector<Remedy> more) {
  std::move(more.begin(), more.end(), std::back_inserter(remedies));
}

// ---- wsl.runtime

Finding native_beside_capable(const std::vector<Copy>& copies) {
  const auto bad = [](const Copy& copy) { return native(copy) && !copy.hsa->origin.is(LibraryOrigin::distribution); };
  const auto paths = paths_of(copies, bad);
  Finding finding =
      warn("programs that load " + join(paths, " or ") + " will not see the GPU: it has no way to /dev/dxg");
  add_copies(copies, finding);
  finding.cause =
      "A runtime before ROCm 7.1 knows only the kernel driver of bare-metal Linux. A PyTorch wheel loads its "
      "own copy, whatever /opt/rocm has.";
  finding.confidence = Confidence::likely;
  const bool roc4wsl =
      std::any_of(copies.begin(), copies.end(), [](const Copy& copy) { return copy.reach == Reach::linked_in; });
  const auto bundled = std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) {
    return bad(copy) && copy.hsa->origin.is(LibraryOrigin::torch_wheel);
  });
  if (roc4wsl && bundled != copies.end()) {
    finding.remedies.push_back(
        {"With the roc4wsl runtime (ROCm 6) AMD's guide removes the copy in the PyTorch wheel, so "
         "that PyTorch loads the one of /opt/rocm. Not for ROCm 7.1 and newer.",
         {"rm " + shell_word(folder_of(bundled->hsa->path)) + "/libhsa-runtime64.so*"},
         {}});
  }
  append(finding.remedies, newer_rocm(copies));
  finding.verify = "sage-doctor check --only wsl.runtime";
  return finding;
}

Finding no_capable_runtime(const std::vector<Copy>& copies, const Fact<bool>& roc4wsl_package) {
  const bool certain = !roc4wsl_package.is(true) && std::all_of(copies.begin(), copies.end(), [](const Copy& copy) {
    return copy.reach == Reach::native_only;
  });
  const bool one = copies.size() == 1;
  const HsaCopy& first = *copies.front().hsa;
  const std::string who = one ? first.path + " (" + release(first) + ")"
                              : "none of the " + std::to_string(copies.size()) + " ROCm runtimes here";
  Finding finding;
  if (certain) {
    finding = fail(one ? who + " has no way to /dev/dxg, so it never sees the GPU under WSL"
                       : who + " has a way to /dev/dxg, so none ever sees the GPU under WSL");
    finding.cause = "A stock runtime before ROCm 7.1 knows only /dev/kfd, which does not exist under WSL.";
  } else {
    finding = warn(one ? who + " shows no support for /dev/dxg" : who + " shows support for /dev/dxg");
    finding.cause =
        "The file names neither librocdxg nor D3DKMT: it is older than ROCm 7.1, or built without WSL support.";
    finding.confidence = Confidence::likely;
  }
  add_copies(copies, finding);
  finding.remedies = newer_rocm(copies);
  finding.verify = "rocminfo | grep gfx";
  return finding;
}

std::vector<Finding> runtime(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"rocm.hsa", &facts.rocm.hsa}})) return {*skip};
  if (facts.rocm.hsa->empty()) {
    Finding finding = warn(
        "no ROCm runtime was found: no libhsa-runtime64 in /opt/rocm, in the Python environment or on "
        "the loader's paths");
    finding.cause = "ROCm is not installed, or only in a Python environment that is not active here.";
    finding.confidence = Confidence::possible;
    finding.remedies = {{"Activate the Python environment that has PyTorch and run the check again.", {}, {}}};
    append(finding.remedies, newer_rocm({}));
    finding.verify = "sage-doctor check --only wsl.runtime";
    return {finding};
  }
  const std::vector<Copy> copies = classified(*facts.rocm.hsa);
  const auto unknown = first_unknown(copies);
  if (std::none_of(copies.begin(), copies.end(), capable)) {
    if (unknown) return {*unknown};
    return {no_capable_runtime(copies, facts.wsl.roc4wsl_package)};
  }
  // The distribution's copy has a row of its own, wsl.distro-rocm; it needs the origin to be known.
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (!native(copies[i])) continue;
    const std::string place = "rocm.hsa[" + std::to_string(i) + "].origin";
    if (auto skip = skip_unless_known({{place, &copies[i].hsa->origin}})) return {*skip};
    if (!copies[i].hsa->origin.is(LibraryOrigin::distribution)) return {native_beside_capable(copies)};
  }
  if (unknown) return {*unknown};
  const auto good = std::find_if(copies.begin(), copies.end(), capable);
  Finding finding = pass(good->hsa->path + " (" + release(*good->hsa) + ") " + reach_in_words(*good));
  add_copies(copies, finding);
  return {finding};
}

// ---- wsl.distro-rocm

bool debian_like(const Distribution& distribution) {
  const std::string text = distribution.id.value_or("") + " " + distribution.id_like.value_or("");
  const auto names = words(text);
  return std::any_of(names.begin(), names.end(),
                     [](std::string_view name) { return name == "debian" || name == "ubuntu"; });
}

std::vector<Finding> distro_rocm(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"rocm.hsa", &facts.rocm.hsa}})) return {*skip};
  const std::vector<Copy> copies = classified(*facts.rocm.hsa);
  std::vector<const Copy*> shadows;
  std::vector<std::string> shadowed;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::string place = "rocm.hsa[" + std::to_string(i) + "].origin";
    if (auto skip = skip_unless_known({{place, &copies[i].hsa->origin}})) return {*skip};
    if (!copies[i].hsa->origin.is(LibraryOrigin::distribution)) {
      shadowed.push_back(copies[i].hsa->path);
    } else if (!capable(copies[i])) {
      shadows.push_back(&copies[i]);
    }
  }
  if (shadows.empty()) return {pass("no ROCm runtime of the distribution stands in the way")};
  if (copies.size() == shadows.size()) return {not_applicable("the distribution's ROCm runtime is the only one")};
  for (const Copy* copy : shadows) {
    if (copy->reach != Reach::unknown) continue;
    Finding skip = *copy->why_unknown;
    skip.subject.clear();
    return {skip};
  }

  const HsaCopy& shadow = *shadows.front()->hsa;
  Finding finding = warn("the distribution's own ROCm runtime " + shadow.path +
                         " cannot use /dev/dxg and may be loaded instead of AMD's");
  add_copies(copies, finding);
  finding.cause =
      "The distribution's rocminfo and libhsa-runtime64 know nothing of WSL, and their folder is searched by "
      "default. They then say \"ROCk module is NOT loaded\" on a machine where nothing is wrong.";
  finding.confidence = Confidence::likely;
  if (debian_like(facts.platform.distribution)) {
    finding.remedies = {{"Remove the distribution's packages; AMD's stay.",
                         {"sudo apt remove libhsa-runtime64-1 libhsakmt1 rocminfo", "sudo ldconfig"},
                         {Need::sudo}}};
  } else {
    finding.remedies = {
        {"Remove the distribution's ROCm runtime and rocminfo packages, then refresh the loader's cache.",
         {"sudo ldconfig"},
         {Need::sudo}}};
  }
  finding.verify = "ldconfig -p | grep libhsa-runtime64";
  return {finding};
}

// ---- wsl.dxg-detection-off

Remedy export_in_profile(const Facts& facts) {
  if (in_container(facts)) {
    return {"Start the container with the variable.",
            {"docker run -e HSA_ENABLE_DXG_DETECTION=1 ..."},
            {Need::container_restart}};
  }
  return {
      "Set it in ~/.profile, not in ~/.bashrc, and log in again (or run the line in this shell too). Job scripts and "
      "services want it of their own.",
      {"echo 'export HSA_ENABLE_DXG_DETECTION=1' >> ~/.profile", "export HSA_ENABLE_DXG_DETECTION=1"},
      {Need::new_login}};
}

// These files are left early, or not read at all, by shells that nobody types into.
bool interactive_only(const Assignment& assignment) {
  return contains(assignment.file, "bashrc") || contains(assignment.file, "zshrc");
}

bool set_only_interactively(const std::vector<Assignment>& assignments) {
  return !assignments.empty() && std::all_of(assignments.begin(), assignments.end(), interactive_only);
}

Finding detection_finding(Status status, const Facts& facts, const HsaCopy& hsa, std::string observed) {
  Finding finding = make_finding(status, std::move(observed), hsa.path);
  if (hsa.rocm_version.known()) {
    finding.evidence.push_back({hsa.version_source.value_or(hsa.path), "ROCm " + *hsa.rocm_version});
  }
  add_variable(facts, detection_variable, finding);
  finding.verify = "rocminfo | grep gfx";
  return finding;
}

Finding switched_off(const Facts& facts, const Copy& copy) {
  const std::string observed = "HSA_ENABLE_DXG_DETECTION is 0, which turns the way to /dev/dxg off";
  if (copy.reach == Reach::linked_in) {
    Finding finding = detection_finding(Status::warn, facts, *copy.hsa, observed + " in every runtime but this one");
    finding.cause = "The roc4wsl runtime does not ask for the variable; the next ROCm will, and nothing needs a 0.";
    finding.remedies = remove_variable(facts, detection_variable);
    return finding;
  }
  Finding finding = detection_finding(Status::fail, facts, *copy.hsa, observed);
  finding.cause = "The runtime takes 0 as \"do not look for the GPU of Windows\", in every release.";
  finding.remedies = remove_variable(facts, detection_variable);
  if (copy.reach != Reach::default_on) {
    finding.remedies.insert(finding.remedies.begin(), export_in_profile(facts));
    finding.remedies.front().text += " Delete the line that sets it to 0.";
  }
  return finding;
}

// The variable is "1" and the runtime needs it: is it so in every shell?
Finding switched_on(const Facts& facts, const Copy& copy) {
  const Variable* entry = facts.environment.find(detection_variable);
  if (entry == nullptr || !entry->assignments.known()) {
    return detection_finding(Status::info, facts, *copy.hsa,
                             "HSA_ENABLE_DXG_DETECTION is 1 here; which file sets it is not known");
  }
  if (!set_only_interactively(*entry->assignments)) {
    return detection_finding(Status::pass, facts, *copy.hsa, "HSA_ENABLE_DXG_DETECTION is 1, as this runtime needs it");
  }
  const std::string& file = entry->assignments->front().file;
  Finding finding = detection_finding(Status::warn, facts, *copy.hsa,
                                      "HSA_ENABLE_DXG_DETECTION is 1 here, but only " + file + " sets it");
  finding.cause =
      "Shells that are not interactive leave that file early: an editor, a service or a cron job will not have the "
      "variable and will not see the GPU.";
  finding.confidence = Confidence::likely;
  finding.remedies = {export_in_profile(facts)};
  finding.verify = "env -u HSA_ENABLE_DXG_DETECTION bash -lc 'echo $HSA_ENABLE_DXG_DETECTION'";
  return finding;
}

Finding not_switched_on(const Facts& facts, const Copy& copy, const std::optional<std::string>& value) {
  const HsaCopy& hsa = *copy.hsa;
  const std::string state =
      value ? "HSA_ENABLE_DXG_DETECTION is \"" + *value + "\"" : "HSA_ENABLE_DXG_DETECTION is not set";
  const bool version_told = copy.reach == Reach::opt_in;
  Finding finding = version_told ? detection_finding(Status::fail, facts, hsa,
                                                     state + "; ROCm " + *hsa.rocm_version +
                                                         " uses the GPU of Windows only if it is exactly 1")
                                 : detection_finding(Status::warn, facts, hsa,
                                                     state + " and the version of " + hsa.path +
                                                         " is unknown: ROCm 7.1 to 7.12 needs it to be 1");
  finding.cause =
      "ROCm 7.1 to 7.12 looks for /dev/dxg only if asked to; without it the runtime tries /dev/kfd, which does "
      "not exist under WSL. From 7.13 on no variable is needed.";
  finding.confidence = version_told ? Confidence::certain : Confidence::possible;
  const Variable* entry = facts.environment.find(detection_variable);
  if (!value && entry != nullptr && entry->assignments.known() && !entry->assignments->empty()) {
    finding.cause += set_only_interactively(*entry->assignments)
                         ? " The file that sets it is left early by shells that are not interactive."
                         : " A start-up file sets it, but this process did not get it: log in again.";
  }
  finding.remedies = {export_in_profile(facts)};
  return finding;
}

Finding detection_for(const Facts& facts, const Copy& copy, const std::optional<std::string>& value) {
  if (value == "0") return switched_off(facts, copy);
  switch (copy.reach) {
    case Reach::linked_in:
      return detection_finding(Status::pass, facts, *copy.hsa, "the roc4wsl runtime needs no variable");
    case Reach::default_on:
      return detection_finding(Status::pass, facts, *copy.hsa,
                               release(*copy.hsa) + " looks for /dev/dxg without being asked");
    default:
      return value == "1" ? switched_on(facts, copy) : not_switched_on(facts, copy, value);
  }
}

std::vector<Finding> dxg_detection_off(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  const auto value = facts.environment.get(detection_variable);
  const std::string variable_place = "environment " + std::string(detection_variable);
  if (auto skip = skip_unless_known({{"rocm.hsa", &facts.rocm.hsa}, {variable_place, &value}})) return {*skip};
  std::vector<Finding> findings;
  for (const Copy& copy : classified(*facts.rocm.hsa)) {
    if (copy.why_unknown) {
      findings.push_back(*copy.why_unknown);
    } else if (capable(copy)) {
      findings.push_back(detection_for(facts, copy, *value));
    }
  }
  if (findings.empty()) findings.push_back(not_applicable("no runtime here can use /dev/dxg"));
  return findings;
}

// ---- wsl.rocdxg

Remedy install_rocdxg() {
  return {
      "Install librocdxg from its releases (https://github.com/ROCm/librocdxg/releases) and refresh the loader's "
      "cache. "
      "ROCm 7.13 and newer may bring it along.",
      {"sudo apt install ./rocdxg-roct_*.deb", "sudo ldconfig"},
      {Need::sudo}};
}

Finding no_bridge(const std::vector<Copy>& copies) {
  const auto users = paths_of(copies, loads_bridge);
  Finding finding =
      fail("librocdxg.so was not found anywhere, and " + users.front() + " cannot reach the GPU without it");
  for (const std::string& path : users) finding.evidence.push_back({path, "loads librocdxg.so"});
  finding.cause =
      "The bridge between ROCm and Windows is not installed. ROCm does not fall back to anything else: it stops "
      "with \"Cannot load librocdxg.so\".";
  finding.remedies = {install_rocdxg()};
  finding.verify = "ldconfig -p | grep librocdxg";
  return finding;
}

enum class Search { found, not_found, unknown };

// Would a bare-name dlopen from `hsa` find this librocdxg: loader cache, LD_LIBRARY_PATH or the caller's own run path?
Search search(const HsaCopy& hsa, const RocdxgCopy& bridge) {
  if (bridge.in_loader_cache.is(true) || bridge.in_library_path.is(true)) return Search::found;
  if (hsa.runpath.known()) {
    const auto& folders = *hsa.runpath;
    if (std::find(folders.begin(), folders.end(), folder_of(bridge.path)) != folders.end()) return Search::found;
  }
  const bool all_known = bridge.in_loader_cache.known() && bridge.in_library_path.known() && hsa.runpath.known();
  return all_known ? Search::not_found : Search::unknown;
}

Finding bridge_not_findable(const HsaCopy& hsa, const std::vector<RocdxgCopy>& bridges) {
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
       {"export LD_LIBRARY_PATH=" + shell_word(folder_of(bridges.front().path)) +
        "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"},
       {}},
  };
  finding.verify = "rocminfo | grep gfx";
  return finding;
}

Finding bridge_is_no_thunk(const RocdxgCopy& bridge) {
  Finding finding = warn(bridge.path + " does not export hsaKmtOpenKFD, the first function that ROCm calls in it");
  finding.evidence = {{bridge.path, "no hsaKmtOpenKFD"}};
  finding.cause = "The file is damaged or is another library of that name.";
  finding.confidence = Confidence::likely;
  finding.remedies = {install_rocdxg()};
  finding.verify = "rocminfo | grep gfx";
  return finding;
}

std::vector<Finding> rocdxg(const CheckInput& input) {
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
  if (bridges.empty()) return {no_bridge(copies)};

  std::optional<Finding> undecided = unknown;
  std::vector<bool> used(bridges.size(), false);
  for (const Copy& copy : copies) {
    if (!loads_bridge(copy)) continue;
    bool found = false;
    bool maybe = false;
    for (std::size_t i = 0; i < bridges.size(); ++i) {
      const Search result = search(*copy.hsa, bridges[i]);
      used[i] = used[i] || result == Search::found;
      found = found || result == Search::found;
      maybe = maybe || result == Search::unknown;
    }
    if (!found && !maybe) return {bridge_not_findable(*copy.hsa, bridges)};
    if (!found && !undecided) {
      undecided = make_finding(Status::skip, "unknown: whether the loader finds librocdxg for " + copy.hsa->path);
    }
  }
  Finding verdict = pass("");
  std::string first_used;
  for (std::size_t i = 0; i < bridges.size(); ++i) {
    if (!used[i]) continue;
    const std::string place = "rocm.rocdxg[" + std::to_string(i) + "].exports_thunk";
    if (bridges[i].exports_thunk.is(false)) return {bridge_is_no_thunk(bridges[i])};
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

}  // namespace

std::vector<Check> wsl_runtime_checks() {
  const auto row = [](std::string_view id, std::string_view title, std::vector<std::string_view> depends,
                      CheckFunction run) {
    return Check{id, title, Topic::wsl, std::move(depends), run};
  };
  return {
      row("wsl.runtime", "A ROCm runtime that can talk to Windows", {"gpu.present"}, runtime),
      row("wsl.distro-rocm", "No ROCm of the distribution in the way", {"gpu.present"}, distro_rocm),
      row("wsl.dxg-detection-off", "The runtime looks for /dev/dxg", {"wsl.runtime"}, dxg_detection_off),
      row("wsl.rocdxg", "The bridge librocdxg is found", {"wsl.runtime"}, rocdxg),
  };
}

}  // namespace sage
