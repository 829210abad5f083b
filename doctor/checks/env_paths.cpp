// Variables that name folders and libraries. A popular recipe sets ROCM_HOME from torch.utils.cpp_extension.ROCM_HOME,
// which is None without a ROCm installation, and so leaves "None/bin" and "None/lib" behind (facts/article.md 1).

#include <algorithm>
#include <array>
#include <set>

#include "doctor/checks/environment_rows.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr auto root_names = std::to_array<std::string_view>({"ROCM_HOME", "ROCM_PATH", "HIP_PATH"});

constexpr std::string_view none_recipe =
    "It was set from torch.utils.cpp_extension.ROCM_HOME, which is None when PyTorch finds no ROCm installation.";

bool is_none(std::string_view path) {
  return path == "None" || path.rfind("None/", 0) == 0;
}

bool in_torch_package(std::string_view path) {
  const bool in_packages = contains(path, "/site-packages/torch") || contains(path, "/dist-packages/torch");
  const std::size_t torch = path.rfind("-packages/torch");
  if (!in_packages || torch == std::string_view::npos) return false;
  const std::string_view rest = path.substr(torch + std::string_view("-packages/torch").size());
  return rest.empty() || rest.front() == '/';
}

// nullopt when no probe looked at the path.
std::optional<Fact<bool>> existence(const Facts& facts, std::string_view variable, std::string_view path) {
  for (const NamedPath& named : *facts.environment.named_paths) {
    if (named.variable == variable && named.path == path) return named.exists;
  }
  return std::nullopt;
}

// What is wrong with one path of a variable; `unknown` when that can't be said.
struct PathVerdict {
  std::string problem;
  std::optional<Finding> unknown;
};

PathVerdict judge_path(const Facts& facts, std::string_view variable, std::string_view path) {
  if (is_none(path)) return {"\"" + std::string(path) + "\" is the text None, not a folder", {}};
  if (path.front() == '$') return {};  // $ORIGIN and the like: the loader expands it for each library
  if (path.front() != '/') return {std::string(path) + " is relative: it depends on the current folder", {}};
  const auto exists = existence(facts, variable, path);
  if (!exists) {
    return {
        {},
        make_finding(Status::skip, "unknown: environment.named_paths (" + std::string(path) + " was not looked at)")};
  }
  if (auto skip = skip_unless_known({{"environment.named_paths.exists", &*exists}})) return {{}, skip};
  return {**exists ? "" : std::string(path) + " does not exist", {}};
}

const RocmRoot* first_root(const Facts& facts) {
  return facts.rocm.roots.known() && !facts.rocm.roots->empty() ? &facts.rocm.roots->front() : nullptr;
}

Finding judge_root(const Facts& facts, const Variable& variable) {
  const std::string& value = **variable.value;
  std::string problem;
  std::string cause;
  if (value.empty()) {
    problem = variable.name + " is set, but empty";
    cause = "Build scripts take an empty value for a folder and do not look for ROCm themselves any more.";
  } else if (is_none(value)) {
    problem = variable.name + "=\"" + value + "\" is the text None, not a folder";
    cause = none_recipe;
  } else if (in_torch_package(value)) {
    problem = variable.name + " points into the torch package: " + value;
    cause = "A PyTorch wheel brings the HIP runtime, but no hipcc and no headers: it is no ROCm installation.";
  } else {
    const PathVerdict verdict = judge_path(facts, variable.name, value);
    if (verdict.unknown) {
      Finding skip = *verdict.unknown;
      skip.subject = variable.name;
      return skip;
    }
    if (verdict.problem.empty()) return pass(variable.name + "=" + value + " exists", variable.name);
    problem = variable.name + ": " + verdict.problem;
    cause = "The folder was moved or removed, or never existed.";
  }
  Finding finding = warn(problem, variable.name);
  finding.evidence = variable_evidence(variable);
  finding.cause = cause;
  finding.confidence = Confidence::likely;
  finding.remedies = {unset_remedy({&variable})};
  if (const RocmRoot* root = first_root(facts)) {
    finding.remedies.push_back(
        {"Point it at the ROCm that is installed.", {"export " + variable.name + "=" + shell_word(root->path)}, {}});
  }
  finding.verify = "echo \"[$" + variable.name + "]\"    # a ROCm folder, or nothing";
  return finding;
}

// "None/bin" in PATH, from the same recipe; nullopt when there is none.
std::optional<Finding> none_in_search_path(const Facts& facts) {
  const Variable* variable = facts.environment.find("PATH");
  if (variable == nullptr) return std::nullopt;
  if (auto skip = skip_unless_known({{"environment.PATH", &variable->value}}, "PATH")) return skip;
  const std::string value = variable->value->value_or("");
  const auto parts = split(value, ':');
  const auto part = std::find_if(parts.begin(), parts.end(), is_none);
  if (part == parts.end()) return std::nullopt;
  Finding finding = warn("PATH holds \"" + std::string(*part) + "\", the text None instead of a folder", "PATH");
  finding.evidence = {{"PATH", std::string(*part)}};
  finding.cause = none_recipe;
  finding.confidence = Confidence::likely;
  finding.remedies = {{"Take the line out that writes it, and open a new shell." + set_where(*variable), {}, {}}};
  finding.verify = "echo \"$PATH\" | tr ':' '\\n' | grep None    # nothing";
  return finding;
}

// The installed ROCm trees below which `path` lies, told apart by the longest match.
const RocmRoot* root_of(const Facts& facts, std::string_view path) {
  const RocmRoot* best = nullptr;
  for (const RocmRoot& root : *facts.rocm.roots) {
    const bool inside = path == root.path || path.rfind(root.path + "/", 0) == 0;
    if (inside && (best == nullptr || root.path.size() > best->path.size())) best = &root;
  }
  return best;
}

// What keeps a variable of this name from being judged, whatever its value.
std::optional<Finding> skip_unless_readable(const Facts& facts, std::string_view name) {
  if (auto skip = skip_without_gpu(facts)) return skip;
  const auto value = facts.environment.get(name);
  return skip_unless_known(
      {{"environment." + std::string(name), &value}, {"environment.named_paths", &facts.environment.named_paths}});
}

bool hip_library(std::string_view path) {
  constexpr auto names = std::to_array<std::string_view>({"libamdhip64", "libhsa-runtime64", "librocdxg", "libhsakmt",
                                                          "libhiprtc", "libamd_comgr", "libMIOpen", "librocblas"});
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return file.rfind(name, 0) == 0; });
}

// What is right in the list stays: it may be the way to the libraries that work.
Remedy keep_only(const Variable& variable, const std::vector<std::string>& kept) {
  if (kept.empty()) return unset_remedy({&variable});
  return {"Keep the elements that are right." + set_where(variable),
          {"export " + variable.name + "=" + shell_word(join(kept, ":"))},
          {}};
}

Finding list_finding(const Variable& variable, const std::vector<std::string>& problems,
                     const std::vector<std::string>& kept, std::string cause) {
  Finding finding = warn(variable.name + ": " + problems.front());
  finding.evidence = variable_evidence(variable);
  for (std::size_t i = 1; i < problems.size(); ++i) finding.evidence.push_back({variable.name, problems[i]});
  finding.cause = std::move(cause);
  finding.confidence = Confidence::likely;
  finding.remedies = {keep_only(variable, kept)};
  finding.verify = "echo \"[$" + variable.name + "]\"";
  return finding;
}

}  // namespace

std::vector<Finding> check_rocm_paths(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_gpu(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"environment.named_paths", &facts.environment.named_paths}})) return {*skip};
  std::vector<Finding> findings;
  for (const std::string_view name : root_names) {
    const auto value = facts.environment.get(name);
    if (auto skip = skip_unless_known({{"environment." + std::string(name), &value}}, std::string(name))) {
      findings.push_back(*skip);
    } else if (value->has_value()) {
      findings.push_back(judge_root(facts, *facts.environment.find(name)));
    }
  }
  if (std::optional<Finding> leftover = none_in_search_path(facts)) findings.push_back(std::move(*leftover));
  if (findings.empty()) findings.push_back(pass("ROCM_HOME, ROCM_PATH and HIP_PATH are not set; none is needed"));
  return findings;
}

std::vector<Finding> check_library_path(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_readable(facts, "LD_LIBRARY_PATH")) return {*skip};
  const Variable& variable = *facts.environment.find("LD_LIBRARY_PATH");
  if (!variable.value->has_value() || (*variable.value)->empty()) return {pass("LD_LIBRARY_PATH is not set")};
  if (auto skip = skip_unless_known({{"rocm.roots", &facts.rocm.roots}})) return {*skip};

  std::vector<std::string> problems;
  std::optional<Finding> unknown;
  std::set<std::string> roots;
  std::vector<std::string> kept;
  std::string first_rocm;
  bool none = false;
  std::string list = **variable.value;
  std::replace(list.begin(), list.end(), ';', ':');  // ld.so(8) takes both
  for (const std::string_view path : split(list, ':')) {
    if (path.empty()) {
      problems.emplace_back("an empty element means the current folder");
      continue;
    }
    const PathVerdict verdict = judge_path(facts, variable.name, path);
    if (verdict.unknown) unknown = verdict.unknown;
    if (!verdict.problem.empty()) {
      problems.push_back(verdict.problem);
      none = none || is_none(path);
      continue;
    }
    const RocmRoot* root = root_of(facts, path);
    if (root != nullptr) roots.insert(root->path);
    if (root != nullptr && first_rocm.empty()) first_rocm = root->path;
    // Of several ROCm releases the first one is what programs have found so far.
    if (root == nullptr || root->path == first_rocm) kept.emplace_back(path);
  }
  if (roots.size() > 1) {
    problems.push_back("it mixes " + join({roots.begin(), roots.end()}, " and "));
  }
  if (problems.empty()) return {unknown ? *unknown : pass("every folder of LD_LIBRARY_PATH exists")};
  const bool mixed = roots.size() > 1;
  return {
      list_finding(variable, problems, kept,
                   none    ? std::string(none_recipe)
                   : mixed ? "Libraries of two ROCm releases in one process fit each other by luck only."
                         : "Such an element comes from `...:$LD_LIBRARY_PATH` while the variable was unset, or from a "
                           "folder that has gone. Libraries may come from where nobody expects them.")};
}

std::vector<Finding> check_preload(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_readable(facts, "LD_PRELOAD")) return {*skip};
  const Variable& variable = *facts.environment.find("LD_PRELOAD");
  std::string value = variable.value->value_or("");
  std::replace(value.begin(), value.end(), ':', ' ');
  const auto libraries = words(value);
  if (libraries.empty()) return {pass("LD_PRELOAD is not set")};

  std::vector<std::string> problems;
  std::optional<Finding> unknown;
  bool of_rocm = false;
  std::vector<std::string> kept;
  for (const std::string_view library : libraries) {
    const std::size_t problems_before = problems.size();
    if (hip_library(library)) {
      of_rocm = true;
      problems.push_back(std::string(library) + " belongs to ROCm and must not be preloaded");
    } else if (contains(library, "/")) {
      const PathVerdict verdict = judge_path(facts, variable.name, library);
      if (verdict.unknown) unknown = verdict.unknown;
      if (!verdict.problem.empty()) problems.push_back(verdict.problem);
    }
    if (problems.size() == problems_before) kept.emplace_back(library);
  }
  if (problems.empty()) return {unknown ? *unknown : pass("LD_PRELOAD holds nothing of ROCm: " + **variable.value)};
  return {list_finding(variable, problems, kept,
                       of_rocm ? "A preloaded ROCm library stands beside the copy that PyTorch brings: two runtimes in "
                                 "one process."
                               : "The loader prints an error about it before every program.")};
}

}  // namespace sage
