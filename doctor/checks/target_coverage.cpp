#include "doctor/checks/target_coverage.hpp"

#include <algorithm>

#include "doctor/checks/python_common.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

/// Names of targets and families in names of distributions that begin with one of `prefixes`.
std::vector<std::string> targets_of_packages(const std::vector<PythonPackage>& packages,
                                             std::initializer_list<std::string_view> prefixes) {
  std::vector<std::string> targets;
  for (const PythonPackage& package : packages) {
    for (const std::string_view prefix : prefixes) {
      if (package.name.starts_with(prefix)) targets.push_back(package.name.substr(prefix.size()));
    }
  }
  return targets;
}

void append(std::vector<std::string>& all, const Fact<std::vector<std::string>>& more) {
  if (more.known()) all.insert(all.end(), more->begin(), more->end());
}

/// The code objects inside libtorch_hip.so.
CodePart own_kernels_inside(const TorchInstall& torch) {
  CodePart part;
  part.source = torch.folder + "/lib/libtorch_hip.so";
  append(part.listed, torch.code_targets);
  part.unknown = skip_unless_known({{"python.environments.torch.code_in_file", &torch.code_in_file},
                                    {"python.environments.torch.code_targets", &torch.code_targets}});
  return part;
}

/// Kernels beside the library, which has an empty section for them.
CodePart own_kernels_beside(const PythonEnvironment& environment, const TorchInstall& torch) {
  CodePart part;
  part.source = torch.folder + "/.kpack";
  part.split_by_target = true;
  append(part.listed, torch.kpack_targets);
  for (std::string& target : targets_of_packages(*environment.packages, {"amd-torch-device-"})) {
    part.listed.push_back(std::move(target));
  }
  part.unknown = skip_unless_known({{"python.environments.torch.kpack_targets", &torch.kpack_targets}});
  return part;
}

CodePart rocblas_kernels(const TorchInstall& torch) {
  CodePart part;
  part.source = torch.folder + "/lib/rocblas/library";
  append(part.listed, torch.rocblas_targets);
  part.unknown = skip_unless_known({{"python.environments.torch.rocblas_targets", &torch.rocblas_targets}});
  if (!part.unknown && part.listed.empty()) {
    part.unknown = make_finding(Status::skip, "unknown: what " + part.source +
                                                  " has code for (its files do not name the targets)");
  }
  return part;
}

CodePart sdk_kernels(const PythonEnvironment& environment, const TorchInstall& torch) {
  CodePart part;
  part.source = parent_folder(torch.folder);
  part.listed = targets_of_packages(*environment.packages, {"rocm-sdk-device-", "rocm-sdk-libraries-"});
  const bool other_words = std::any_of(part.listed.begin(), part.listed.end(),
                                       [](const std::string& name) { return !name.starts_with("gfx"); });
  const SdkFiles& sdk = environment.sdk;
  append(part.listed, sdk.kpack_targets);
  part.split_by_target = sdk.code_in_file.is(false);
  if (other_words) {
    part.unknown = make_finding(Status::skip, "unknown: what the ROCm SDK in " + part.source +
                                                  " has code for (its packages do not name the targets)");
  } else if (part.listed.empty()) {
    // Nothing is listed by a build whose code is inside the libraries, and by one whose device wheel is missing.
    part.unknown = skip_unless_known({{"python.environments.sdk.code_in_file", &sdk.code_in_file},
                                      {"python.environments.sdk.kpack_targets", &sdk.kpack_targets}});
    if (!part.unknown && !part.split_by_target) {
      part.unknown = make_finding(Status::skip, "unknown: what the libraries of the ROCm SDK have code for");
    }
  }
  return part;
}

}  // namespace

bool code_covers(std::string_view listed, std::string_view target) {
  if (listed == "amdgcnspirv") return true;
  const std::string_view plain = listed.substr(0, listed.find(':'));
  if (plain == target) return true;
  const std::string_view family = plain.substr(0, plain.find_first_of("-_"));
  return family.size() == target.size() && std::equal(family.begin(), family.end(), target.begin(),
                                                      [](char f, char t) { return f == 'x' || f == t; });
}

bool any_covers(const std::vector<std::string>& listed, const std::vector<std::string>& targets) {
  return std::any_of(listed.begin(), listed.end(), [&](const std::string& name) {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const std::string& target) { return code_covers(name, target); });
  });
}

std::vector<CodePart> code_parts(const Facts& facts) {
  const PythonEnvironment& environment = environment_in_use(facts);
  const TorchInstall& torch = torch_in_use(facts);
  const bool fat = torch.family.is(TorchFamily::fat);
  if (!fat && !environment.packages.known()) {
    CodePart part;
    part.source = parent_folder(torch.folder);
    part.unknown = skip_unless_known({{"python.environments.packages", &environment.packages}});
    return {part};
  }
  return {fat ? rocblas_kernels(torch) : sdk_kernels(environment, torch),
          torch.code_in_file.is(false) ? own_kernels_beside(environment, torch) : own_kernels_inside(torch)};
}

}  // namespace sage
