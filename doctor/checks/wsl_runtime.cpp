// Is there a ROCm runtime that can talk to Windows, and does another one stand in its way? What kinds of runtime there
// are is told in wsl_copies.cpp. Facts: facts/wsl.md 2.1, 2.11, W4, W5.

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "doctor/checks/wsl_copies.hpp"
#include "doctor/checks/wsl_rows.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

bool from_torch_wheel(const Copy& copy) {
  return copy.hsa->origin.is(LibraryOrigin::torch_wheel);
}

// The pip of the environment that `file` lies in: <environment>/lib/python3.12/site-packages/... Folders that belong to
// no environment of their own (the system's, ~/.local) have no Python beside them that could be named for sure.
std::string pip_for(const std::string& file) {
  const std::size_t packages = file.rfind("/python3");
  const std::string environment = packages == std::string::npos ? "/" : parent_folder(file.substr(0, packages));
  const bool shared = environment == "/" || environment.starts_with("/usr") || environment.ends_with("/.local");
  return (shared ? "python3" : shell_word(environment + "/bin/python")) + " -m pip";
}

// What to install instead of a wheel's runtime. ROCm 7.13 is the first that uses /dev/dxg by itself (facts/wsl.md 2.1);
// a wheel that is at 7.2 already and shows no support needs that one, not 7.2 once more.
Remedy newer_wheel(const HsaCopy& wheel) {
  if (!wheel.rocm_version.known() || version_below(*wheel.rocm_version, "7.2")) {
    return {"In the Python environment, replace PyTorch by a build for ROCm 7.2 or newer.",
            {pip_for(wheel.path) + " install --force-reinstall torch torchvision --index-url "
                                   "https://download.pytorch.org/whl/rocm7.2"},
            {}};
  }
  return {"In the Python environment, replace PyTorch, which is for ROCm " + *wheel.rocm_version +
              ", by a build for ROCm 7.13 or newer, which uses /dev/dxg by itself. AMD's are at "
              "https://repo.amd.com/rocm/whl-multi-arch/; the code for a GPU is an extra there, as in "
              "'torch[device-gfx1201]'.",
          {},
          {}};
}

// What to install instead of these native-only copies.
std::vector<Remedy> newer_rocm(const std::vector<Copy>& copies) {
  std::vector<Remedy> remedies;
  const auto wheel = std::find_if(copies.begin(), copies.end(),
                                  [](const Copy& copy) { return native(copy) && from_torch_wheel(copy); });
  if (wheel != copies.end()) remedies.push_back(newer_wheel(*wheel->hsa));
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

constexpr std::string_view cause_by_age =
    "A stock runtime before ROCm 7.1 knows only /dev/kfd, which does not exist under WSL.";
constexpr std::string_view cause_by_content =
    "The file names neither librocdxg nor D3DKMT: it is older than ROCm 7.1, or built without WSL support.";

bool in_the_way(const Copy& copy) {
  return native(copy) && !copy.hsa->origin.is(LibraryOrigin::distribution);
}

// AMD's guide for roc4wsl removes the wheel's copy, so that PyTorch loads the one of /opt/rocm. A wheel for ROCm 7 or
// later does not run on the runtime of ROCm 6, so its copy must stay; hence only a version known to be old will do.
std::optional<Remedy> remove_bundled(const std::vector<Copy>& copies) {
  const bool roc4wsl =
      std::any_of(copies.begin(), copies.end(), [](const Copy& copy) { return copy.reach == Reach::linked_in; });
  const auto bundled = std::find_if(copies.begin(), copies.end(), [](const Copy& copy) {
    return copy.reach == Reach::native_only && from_torch_wheel(copy);
  });
  if (!roc4wsl || bundled == copies.end()) return std::nullopt;
  return Remedy{
      "With the roc4wsl runtime AMD's guide removes the copy in the PyTorch wheel, so that PyTorch loads the "
      "one of /opt/rocm. This is for wheels before ROCm 7.1 only.",
      {"rm " + shell_word(parent_folder(bundled->hsa->path)) + "/libhsa-runtime64.so*"},
      {}};
}

Finding native_beside_capable(const std::vector<Copy>& copies) {
  const auto paths = paths_of(copies, in_the_way);
  Finding finding =
      warn("programs that load " + join(paths, " or ") + " will not see the GPU: it has no way to /dev/dxg");
  add_copies(copies, finding);
  const bool by_age = std::all_of(copies.begin(), copies.end(), [](const Copy& copy) {
    return !in_the_way(copy) || copy.reach == Reach::native_only;
  });
  finding.cause = by_age ? cause_by_age : cause_by_content;
  if (std::any_of(copies.begin(), copies.end(),
                  [](const Copy& copy) { return in_the_way(copy) && from_torch_wheel(copy); })) {
    finding.cause += " A PyTorch wheel loads its own copy, whatever /opt/rocm has.";
  }
  finding.confidence = Confidence::likely;
  if (auto remedy = remove_bundled(copies)) finding.remedies.push_back(std::move(*remedy));
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
    finding.cause = cause_by_age;
  } else {
    finding = warn(one ? who + " shows no support for /dev/dxg" : who + " shows support for /dev/dxg");
    finding.cause = cause_by_content;
    finding.confidence = Confidence::likely;
  }
  add_copies(copies, finding);
  finding.remedies = newer_rocm(copies);
  finding.verify = "sage-doctor check --only wsl.runtime";
  return finding;
}

// ---- wsl.distro-rocm

// Debian splits the library in packages of known names; elsewhere the package that owns the file tells its own.
Remedy remove_packages(const Distribution& distribution, const std::string& library) {
  const std::string file = shell_word(library);
  const std::string dnf = "sudo dnf remove \"$(rpm -qf --qf '%{NAME}' " + file + ")\"";
  const std::string pacman = "sudo pacman -Rc \"$(pacman -Qqo " + file + ")\"";
  const std::string zypper = "sudo zypper remove \"$(rpm -qf --qf '%{NAME}' " + file + ")\"";
  const std::string command = command_for(
      package_family(distribution), {"sudo apt remove libhsa-runtime64-1 libhsakmt1 rocminfo", dnf, pacman, zypper});
  Remedy remedy{"Remove the distribution's packages; AMD's stay.", {}, {Need::sudo}};
  if (command.empty()) {
    remedy.text = "Remove the distribution's ROCm runtime and rocminfo, then refresh the loader's cache.";
  } else {
    remedy.commands.push_back(command);
  }
  remedy.commands.emplace_back("sudo ldconfig");
  return remedy;
}

}  // namespace

std::vector<Finding> check_wsl_runtime(const CheckInput& input) {
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

std::vector<Finding> check_distro_rocm(const CheckInput& input) {
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
  finding.remedies = {remove_packages(facts.platform.distribution, shadow.path)};
  finding.verify = "ldconfig -p | grep libhsa-runtime64";
  return {finding};
}

}  // namespace sage
