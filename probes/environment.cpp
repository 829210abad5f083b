#include "probes/environment.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/startup_files.hpp"

namespace sage {
namespace {

/// A variable that names files or folders, and the characters that separate them: none for a single path. ld.so(8)
/// takes colons and semicolons in LD_LIBRARY_PATH, colons and blanks in LD_PRELOAD.
struct PathVariable {
  std::string_view name;
  std::string_view separators;
};

constexpr std::array path_variables = {
    PathVariable{"ROCM_HOME", ""},           PathVariable{"ROCM_PATH", ""},      PathVariable{"HIP_PATH", ""},
    PathVariable{"HIP_DEVICE_LIB_PATH", ""}, PathVariable{"HIP_CLANG_PATH", ""}, PathVariable{"LD_LIBRARY_PATH", ":;"},
    PathVariable{"LD_PRELOAD", ": "},        PathVariable{"TRITON_LIBHIP_PATH", ""},
};

std::vector<std::string> elements(const std::string& value, std::string_view separators) {
  std::vector<std::string> found;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = value.find_first_of(separators, begin);
    found.push_back(value.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return found;
    begin = end + 1;
  }
}

std::string absolute(const std::string& path, const std::string& working_folder) {
  return path.starts_with('/') ? path : working_folder + "/" + path;
}

Fact<bool> path_exists(const Host& host, std::string_view variable, const std::string& path,
                       const std::string& working_folder) {
  if (path.empty()) return Fact<bool>::unknown("an empty path names nothing");
  if (path.starts_with('/')) return exists(host, path);
  // The loader expands $ORIGIN, $LIB and $PLATFORM, and searches for a preloaded name without a slash.
  if (path.starts_with('$')) return Fact<bool>::unknown(path + ": not expanded");
  if (variable == "LD_PRELOAD" && !contains(path, "/")) {
    return Fact<bool>::unknown(path + ": the loader searches for it");
  }
  if (!working_folder.starts_with('/')) return Fact<bool>::unknown(path + ": the working folder is not known");
  return exists(host, absolute(path, working_folder));
}

std::vector<NamedPath> named_paths(const Host& host, const std::map<std::string, std::string>& variables) {
  const std::string working_folder = host.process().working_folder;
  std::vector<NamedPath> paths;
  for (const auto& [name, separators] : path_variables) {
    const auto set = variables.find(std::string(name));
    if (set == variables.end()) continue;
    // An empty list is no list, unlike one with an empty element (ld.so(8)); an empty single path is a mistake to show.
    if (set->second.empty() && !separators.empty()) continue;
    for (std::string& path : elements(set->second, separators)) {
      Fact<bool> there = path_exists(host, name, path, working_folder);
      Fact<std::string> canonical = there.is(true)
                                        ? Fact<std::string>(host.canonical(absolute(path, working_folder)))
                                        : Fact<std::string>::unknown(path + ": not known to exist");
      paths.push_back({std::string(name), std::move(path), std::move(there), std::move(canonical)});
    }
  }
  return paths;
}

Fact<std::vector<Assignment>> assignments_of(const std::string& name, const StartupAssignments& startup) {
  using Assignments = Fact<std::vector<Assignment>>;
  if (!looked_for_in_startup_files(name)) return Assignments::unknown(name + " is not looked for in start-up files");
  const auto found = startup.by_name.find(name);
  if (found != startup.by_name.end()) return found->second;
  if (startup.error) return Assignments::unknown(*startup.error);
  return std::vector<Assignment>{};
}

}  // namespace

Environment probe_environment(const Host& host, const ProbeOptions&) {
  const std::map<std::string, std::string> set = host.environment();
  const StartupAssignments startup = probe_startup_files(host);

  Environment environment;
  const auto add = [&](const std::string& name, std::optional<std::string> value) {
    environment.variables.push_back({name, std::move(value), assignments_of(name, startup)});
  };
  std::map<std::string, std::string> others = set;
  for (const std::string& name : allowed_environment_names()) {
    const auto value = set.find(name);
    add(name, value == set.end() ? std::nullopt : std::optional(value->second));
    others.erase(name);
  }
  for (const auto& [name, value] : others) add(name, value);  // HSA_OVERRIDE_GFX_VERSION_<n>
  environment.named_paths = named_paths(host, set);
  return environment;
}

}  // namespace sage
