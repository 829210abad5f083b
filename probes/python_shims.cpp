// pyenv, asdf and mise put a folder "shims" into PATH in which python3 is no interpreter: it looks for the version that
// the folder, the user or a variable wants, and starts that. The same choice is made here from their files
// (facts/wheels.md 2.13), without running them.
//
//   pyenv   <root>/shims, <root>/versions/<version>; PYENV_VERSION, .python-version upwards, <root>/version
//   asdf    <root>/shims, <root>/installs/python/<version>; .tool-versions upwards, ~/.tool-versions
//   mise    the same folders; also mise.toml and .mise.toml upwards, ~/.config/mise/config.toml

#include "probes/python_shims.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"
#include "probes/python_paths.hpp"
#include "probes/search_path.hpp"

namespace sage {
namespace {

constexpr std::size_t settings_cap = 64 * 1024;

// Each takes the text of one settings file and gives the first Python version in it; empty when it names none.

std::string first_word(std::string_view text) {
  for (const std::string_view line : lines(text)) {
    const auto parts = words(line.substr(0, line.find('#')));
    if (!parts.empty()) return std::string(split(parts.front(), ':').front());
  }
  return "";
}

/// "python 3.12.1 3.11.0".
std::string of_tool_versions(std::string_view text) {
  for (const std::string_view line : lines(text)) {
    const auto parts = words(line.substr(0, line.find('#')));
    if (parts.size() >= 2 && parts.front() == "python") return std::string(parts[1]);
  }
  return "";
}

/// `python = "3.12"`, a list of which the first counts, or `python = { version = "3.12" }`: the first quoted text.
std::string of_mise_toml(std::string_view text) {
  for (const std::string_view line : lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || trim(line.substr(0, equals)) != "python") continue;
    const std::size_t open = line.find_first_of("\"'", equals);
    if (open == std::string_view::npos) continue;
    const std::size_t close = line.find(line[open], open + 1);
    if (close != std::string_view::npos) return std::string(line.substr(open + 1, close - open - 1));
  }
  return "";
}

using ReadVersion = std::string (*)(std::string_view text);

struct SettingsFile {
  std::string_view name;
  ReadVersion read;
};

constexpr auto tool_files = std::to_array<SettingsFile>({
    {"mise.toml", of_mise_toml},
    {".mise.toml", of_mise_toml},
    {".tool-versions", of_tool_versions},
});

std::string version_in(const Host& host, const std::string& file, ReadVersion read) {
  const auto text = host.read_file(file, settings_cap);
  return text.ok() ? read(*text) : "";
}

std::string in_folder(const std::string& folder, std::string_view name) {
  return (folder == "/" ? "" : folder) + "/" + std::string(name);
}

std::string pyenv_version(const Host& host, const std::string& root) {
  if (std::string chosen = first_word(variable_of(host, "PYENV_VERSION")); !chosen.empty()) return chosen;
  for (const std::string& folder : upward(host.process().working_folder)) {
    if (std::string chosen = version_in(host, in_folder(folder, ".python-version"), first_word); !chosen.empty()) {
      return chosen;
    }
  }
  return version_in(host, root + "/version", first_word);
}

std::string tool_version(const Host& host) {
  const ProcessIdentity process = host.process();
  std::vector<std::string> folders = upward(process.working_folder);
  if (!process.home.empty()) folders.push_back(process.home);
  for (const std::string& folder : folders) {
    for (const auto& [name, read] : tool_files) {
      if (std::string chosen = version_in(host, in_folder(folder, name), read); !chosen.empty()) return chosen;
    }
  }
  return version_in(host, process.home + "/.config/mise/config.toml", of_mise_toml);
}

/// A version is the name of a folder; nothing else may come of a file that anybody wrote.
bool names_a_folder(const std::string& version) {
  return !version.empty() && version != "system" && version.front() != '.' && !contains(version, "/");
}

/// The folder of `version` below `installed`: its own, or for "3.12" that of the newest 3.12.x.
std::string version_folder(const Host& host, const std::string& installed, const std::string& version) {
  const std::string exact = installed + "/" + version;
  if (is_folder(host, exact)) return exact;
  std::string newest;
  for (const std::string& name : host.list_folder(installed).value_or({})) {
    if (name.starts_with(version + ".") && (newest.empty() || version_below(newest, name))) newest = name;
  }
  return newest.empty() ? exact : installed + "/" + newest;
}

/// The interpreter of `version` below `installed`; empty when it is not there.
std::string installed_python(const Host& host, const std::string& installed, const std::string& version,
                             const std::string& name) {
  if (!names_a_folder(version)) return "";
  const std::string executable = version_folder(host, installed, version) + "/bin/" + name;
  return host.status(executable).ok() ? executable : "";
}

}  // namespace

std::string started_by(const Host& host, const std::string& folder, const std::string& name) {
  const std::string executable = folder + "/" + name;
  const auto status = host.status(executable);
  if (!status || status->type != FileType::regular) return "";
  if (!folder.ends_with("/shims")) return executable;
  const std::string root = parent_folder(folder);
  if (is_folder(host, root + "/versions")) {
    return installed_python(host, root + "/versions", pyenv_version(host, root), name);
  }
  const std::string installed = root + "/installs/python";
  if (is_folder(host, installed)) return installed_python(host, installed, tool_version(host), name);
  return executable;
}

}  // namespace sage
