// The PyTorch that `import torch` gets: which backend it was built for, and whether its files belong together
// (facts/wheels.md P2).

#include <algorithm>

#include "doctor/checks/python_common.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

using Needed = std::initializer_list<NeededFact>;

// ---- python.torch-flavour

bool has_nvidia_gpu(const Facts& facts) {
  const auto others = facts.gpus.others.value_or({});
  return std::any_of(others.begin(), others.end(), [](const std::string& name) { return name.starts_with("NVIDIA"); });
}

std::string why_wrong(TorchFlavour flavour) {
  if (flavour == TorchFlavour::cpu) {
    return "pip took a build without any GPU: the index it was told has no ROCm build for this version of Python, or a "
           "later installation replaced the ROCm build.";
  }
  return "pip took the build of PyPI, which is for other GPUs: PyTorch was installed without a ROCm index, or another "
         "package's requirement replaced the ROCm build.";
}

std::vector<Evidence> flavour_evidence(const TorchInstall& torch) {
  std::vector<Evidence> evidence = {{torch.folder + "/version.py", torch.version.value_or("version unknown")}};
  if (torch.hip.known()) evidence.push_back({torch.folder + "/version.py", "hip = " + torch.hip->value_or("None")});
  if (torch.cuda.known()) evidence.push_back({torch.folder + "/version.py", "cuda = " + torch.cuda->value_or("None")});
  return evidence;
}

// ---- python.torch-health

/// "cp312-cp312-manylinux" and "cp39-abi3-..." against "3.12".
bool tag_fits(std::string_view tag, const std::string& python) {
  const std::vector<std::string_view> parts = split(tag, '-');
  if (parts.size() < 2 || !parts[0].starts_with("cp")) return true;
  std::string digits = python;
  std::erase(digits, '.');
  if (parts[1] == "cp" + digits) return true;
  if (parts[1] != "abi3") return false;
  const auto oldest = parse_number(parts[0].substr(std::min<std::size_t>(parts[0].size(), 3)));
  const auto minor = parse_number(std::string_view(python).substr(std::min<std::size_t>(python.size(), 2)));
  return oldest && minor && *oldest <= *minor;
}

std::string local_part(std::string_view version) {
  const std::size_t plus = version.find('+');
  return plus == std::string_view::npos ? "" : std::string(version.substr(plus + 1));
}

/// METADATA may lack the local part that version.py has, and the other way round.
bool versions_agree(const std::string& one, const std::string& other) {
  const auto first = parse_version(one);
  const auto second = parse_version(other);
  if (!first || !second) return one == other;
  const std::string first_local = local_part(one);
  const std::string second_local = local_part(other);
  return *first == *second && (first_local.empty() || second_local.empty() || first_local == second_local);
}

std::vector<Evidence> disagreements(const TorchInstall& torch) {
  std::vector<Evidence> found;
  if (torch.flavour.known() && torch.library_flavour.known() && *torch.flavour != *torch.library_flavour) {
    found.push_back({torch.folder, "version.py says " + std::string(enum_name(*torch.flavour)) + ", the libraries are " +
                                       std::string(enum_name(*torch.library_flavour))});
  }
  if (torch.version.known() && torch.metadata_versions.known()) {
    for (const std::string& version : *torch.metadata_versions) {
      if (versions_agree(version, *torch.version)) continue;
      found.push_back({torch.folder, "version.py says " + *torch.version + ", METADATA says " + version});
    }
  }
  return found;
}

std::vector<Evidence> health_problems(const PythonEnvironment& environment, const TorchInstall& torch) {
  std::vector<Evidence> problems = disagreements(torch);
  if (environment.packages.known()) {
    std::vector<std::string> records;
    for (const PythonPackage& package : *environment.packages) {
      if (package.name == "torch" && parent_folder(package.dist_info) == parent_folder(torch.folder)) {
        records.push_back(package.dist_info);
      }
    }
    if (records.size() > 1) {
      for (const std::string& record : records) problems.push_back({record, "one of several records of torch"});
    }
  }
  for (const std::string& leftover : environment.leftovers.value_or({})) {
    problems.push_back({leftover, "left over from a broken uninstall"});
  }
  const bool own = torch.site.is(SiteKind::own);
  if (own && torch.wheel_tags.known() && environment.version.known() && !torch.wheel_tags->empty() &&
      std::none_of(torch.wheel_tags->begin(), torch.wheel_tags->end(),
                   [&](const std::string& tag) { return tag_fits(tag, *environment.version); })) {
    problems.push_back({torch.folder, "built for " + torch.wheel_tags->front() + ", the interpreter is Python " +
                                          *environment.version});
  }
  return problems;
}

}  // namespace

std::vector<Finding> check_torch_flavour(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_torch(facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(facts);
  const TorchInstall& torch = torch_in_use(facts);
  if (auto skip = skip_unless_known({{"python.environments.torch.flavour", &torch.flavour},
                                     {"python.environments.torch.library_flavour", &torch.library_flavour}})) {
    return {*skip};
  }
  const std::string version = torch.version.value_or("of unknown version");
  if (*torch.flavour != *torch.library_flavour) {
    return {make_finding(Status::skip, "unknown: version.py and the libraries disagree, see python.torch-health")};
  }
  if (*torch.flavour == TorchFlavour::rocm) {
    const std::string hip = torch.hip.known() ? ", HIP " + torch.hip->value_or("unknown") : "";
    return {pass("PyTorch " + version + " is a ROCm build" + hip)};
  }
  const std::string flavour(enum_name(*torch.flavour));
  const bool may_be_meant =
      environment.found.is(PythonFound::working_folder) ||
      (*torch.flavour == TorchFlavour::cuda && has_nvidia_gpu(facts));
  const std::string observed = "PyTorch " + version + " is a " + flavour + " build and never sees an AMD GPU";
  Finding finding = may_be_meant ? warn(observed) : fail(observed);
  finding.evidence = flavour_evidence(torch);
  if (torch_is_shadowed(environment)) {
    finding.cause = "It is not the PyTorch of " + environment.prefix + " but one that hides it.";
    finding.remedies = {unshadow_remedy(facts)};
  } else {
    finding.cause = why_wrong(*torch.flavour);
    finding.confidence = Confidence::likely;
    finding.remedies = {install_rocm_torch(input)};
  }
  finding.verify = show_torch_command(environment);
  return {finding};
}

std::vector<Finding> check_torch_health(const CheckInput& input) {
  if (auto skip = skip_without_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const TorchInstall& torch = torch_in_use(input.facts);
  const std::vector<Evidence> problems = health_problems(environment, torch);
  if (problems.empty()) {
    const Needed needed = {{"python.environments.torch.flavour", &torch.flavour},
                           {"python.environments.torch.library_flavour", &torch.library_flavour},
                           {"python.environments.torch.version", &torch.version},
                           {"python.environments.torch.metadata_versions", &torch.metadata_versions},
                           {"python.environments.torch.wheel_tags", &torch.wheel_tags},
                           {"python.environments.torch.site", &torch.site},
                           {"python.environments.version", &environment.version},
                           {"python.environments.packages", &environment.packages},
                           {"python.environments.leftovers", &environment.leftovers}};
    if (auto skip = skip_unless_known(needed)) return {*skip};
    return {pass("the records and files of " + torch.folder + " agree")};
  }
  Finding finding = warn("the PyTorch in " + parent_folder(torch.folder) + " is not of one piece");
  finding.evidence = problems;
  finding.cause = "An installation was interrupted, or one was put over another.";
  finding.confidence = Confidence::likely;
  Remedy remove{"Uninstall until pip finds nothing more, and remove what is left over.",
                {pip_uninstall(environment) + " torch", pip_uninstall(environment) + " torch"},
                {}};
  for (const std::string& leftover : environment.leftovers.value_or({})) {
    remove.commands.push_back("rm -r " + shell_word(leftover));
  }
  finding.remedies = {std::move(remove), install_rocm_torch(input)};
  finding.verify = show_torch_command(environment);
  return {finding};
}

}  // namespace sage
