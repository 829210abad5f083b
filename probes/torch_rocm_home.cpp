#include "probes/torch_rocm_home.hpp"

#include <algorithm>
#include <array>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"
#include "probes/compiler_parts.hpp"
#include "probes/look.hpp"
#include "probes/search_path.hpp"

namespace sage {
namespace {

/// The generations of _find_rocm_home.
enum class Rules {
  shell,         ///< `which hipcc | xargs readlink -f`; without hipcc the empty text, not None (facts/bugs.md B27)
  which,         ///< shutil.which("hipcc"), then /opt/rocm
  core_first,    ///< the package _rocm_sdk_core before that
  devel_first,   ///< the package _rocm_sdk_devel before that
};

/// Longer than cpp_extension.py of any release so far (150 KiB in 2.15).
constexpr std::size_t source_cap = 1024 * 1024;

/// What the source of this very PyTorch says. AMD's branches and nightlies have rules that their version does not tell.
std::optional<Rules> rules_in_source(const Host& host, const std::string& torch_folder) {
  const auto text = host.read_file(torch_folder + "/utils/cpp_extension.py", source_cap);
  if (!text) return std::nullopt;
  const std::size_t begin = text->find("def _find_rocm_home");
  if (begin == std::string::npos) return std::nullopt;
  const std::string_view body = std::string_view(*text).substr(begin, text->find("\ndef ", begin) - begin);
  if (contains(body, "'_rocm_sdk_devel'")) return Rules::devel_first;
  if (contains(body, "'_rocm_sdk_core'")) return Rules::core_first;
  if (contains(body, "shutil.which('hipcc')")) return Rules::which;
  if (contains(body, "which hipcc")) return Rules::shell;
  return std::nullopt;
}

struct Generation {
  const char* before;  ///< first release that no longer has these rules; empty: the newest
  std::vector<Rules> rules;
};

/// Where the source can't be read. Read in the published wheels: 2.12.0 and 2.12.1 are as before, 2.13.0, 2.14.0 and
/// 2.14.1 ask for core alone (#180723), 2.15.0 for devel first (#196503), which AMD carried back to its 2.13 and 2.14.
const std::vector<Generation>& generations() {
  static const std::vector<Generation> table = {
      {"2.1", {Rules::shell}},
      {"2.13", {Rules::which}},
      {"2.15", {Rules::core_first, Rules::devel_first}},
      {"", {Rules::devel_first}},
  };
  return table;
}

std::vector<Rules> rules_of(const Host& host, const TorchInstall& torch, const std::string& version) {
  if (const auto rules = rules_in_source(host, torch.folder)) return {*rules};
  for (const Generation& generation : generations()) {
    if (generation.before[0] == '\0' || version_below(version, generation.before)) return generation.rules;
  }
  return {};
}

/// One answer of _find_rocm_home.
struct Answer {
  std::optional<std::string> path;
  std::string rule;

  friend bool operator==(const Answer&, const Answer&) = default;
};

std::string package_folder(const PythonEnvironment& environment, std::string_view name) {
  for (const std::string& folder : environment.sdk_folders.value_or({})) {
    if (file_name(folder) == name) return folder;
  }
  return "";
}

/// Devel is a package only once it is expanded.
std::string devel_folder(const PythonEnvironment& environment) {
  const bool expanded =
      environment.devel.is(DevelState::expanded) || environment.devel.is(DevelState::interrupted);
  return expanded ? package_folder(environment, "_rocm_sdk_devel") : "";
}

std::string root_of_hipcc(const Host& host, const std::string& hipcc) {
  const std::string root = parent_folder(parent_folder(host.canonical(hipcc).value_or(hipcc)));
  return file_name(root) == "hip" ? parent_folder(root) : root;
}

Answer answer_by(Rules rules, const Host& host, const PythonEnvironment& environment, const std::string& hipcc) {
  for (const char* name : {"ROCM_HOME", "ROCM_PATH"}) {
    if (const std::string value = variable_of(host, name); !value.empty()) return {value, name};
  }
  const std::string core = package_folder(environment, "_rocm_sdk_core");
  const std::string devel = devel_folder(environment);
  if (rules == Rules::devel_first && !devel.empty()) return {devel, "_rocm_sdk_devel"};
  const bool asks_packages = rules == Rules::core_first || rules == Rules::devel_first;
  if (asks_packages && !core.empty()) return {core, "_rocm_sdk_core"};
  if (!hipcc.empty()) return {root_of_hipcc(host, hipcc), "hipcc on PATH"};
  if (rules == Rules::shell) return {"", "empty"};
  if (is_folder(host, "/opt/rocm")) return {"/opt/rocm", "/opt/rocm"};
  return {std::nullopt, "none"};
}

struct Answers {
  std::optional<Error> unknown;
  Answer answer;
};

Answers all_answers(const Host& host, const PythonEnvironment& environment, const TorchInstall& torch) {
  if (!torch.version.known()) return {torch.version.why_unknown(), {}};
  if (!parse_version(*torch.version)) return {Error{0, "\"" + *torch.version + "\" is no version"}, {}};
  if (!environment.sdk_folders.known()) return {environment.sdk_folders.why_unknown(), {}};
  const Fact<std::string> hipcc = find_in_path(host, "hipcc");
  std::vector<Answer> answers;
  for (const Rules rules : rules_of(host, torch, *torch.version)) {
    Answer answer = answer_by(rules, host, environment, hipcc.value_or(""));
    const bool asked_path = answer.rule == "/opt/rocm" || answer.rule == "none" || answer.rule == "empty";
    if (!hipcc.known() && asked_path) return {hipcc.why_unknown(), {}};
    answers.push_back(std::move(answer));
  }
  if (std::adjacent_find(answers.begin(), answers.end(), std::not_equal_to<>()) != answers.end()) {
    return {Error{0, "which rules PyTorch " + *torch.version + " has is not established: " +
                         answers.front().path.value_or("None") + " or " + answers.back().path.value_or("None")},
            {}};
  }
  return {std::nullopt, std::move(answers.front())};
}

Fact<bool> below(const Host& host, const std::optional<std::string>& path, const char* file) {
  if (!path || !path->starts_with('/')) return false;
  return exists(host, *path + file);
}

TorchRocmHome describe(const Host& host, const PythonEnvironment& environment, const TorchInstall& torch) {
  TorchRocmHome home;
  home.torch_folder = torch.folder;
  home.hipcc_in_torch = exists(host, torch.folder + "/bin/hipcc");
  Answers answers = all_answers(host, environment, torch);
  if (answers.unknown) {
    home.path = Fact<std::optional<std::string>>::unknown(*answers.unknown);
    home.rule = Fact<std::string>::unknown(*answers.unknown);
    home.has_headers = home.has_hipcc = Fact<bool>::unknown(*answers.unknown);
    home.headers = Fact<std::vector<std::string>>::unknown(*answers.unknown);
    return home;
  }
  home.has_headers = below(host, answers.answer.path, "/include/hip/hip_version.h");
  home.has_hipcc = below(host, answers.answer.path, "/bin/hipcc");
  const std::string root = answers.answer.path.value_or("");
  home.headers = library_headers_in(host, root.starts_with('/') ? root + "/include" : "");
  home.rule = std::move(answers.answer.rule);
  home.path = std::move(answers.answer.path);
  return home;
}

}  // namespace

std::vector<TorchRocmHome> find_torch_rocm_homes(const Host& host, const Python& python) {
  std::vector<TorchRocmHome> homes;
  for (const PythonEnvironment& environment : python.environments.value_or({})) {
    const std::vector<TorchInstall> installs = environment.torch.value_or({});
    if (installs.empty() || !installs.front().flavour.is(TorchFlavour::rocm)) continue;
    homes.push_back(describe(host, environment, installs.front()));
  }
  return homes;
}

}  // namespace sage
