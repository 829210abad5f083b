// Which folders would `import torch` search? The interpreter computes that at start-up from where its executable lies
// (getpath, site.py), and the same computation is done here from files (facts/wheels.md 2.13). Two traps decide:
// pyvenv.cfg is looked for beside the executable as it was called, before any symbolic link is resolved; and outside
// a virtual environment the user's own site-packages come before those of the interpreter.

#include "probes/python_environments.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/python_paths.hpp"
#include "probes/search_path.hpp"
#include "probes/python_shims.hpp"

namespace sage {
namespace {

constexpr std::size_t most_environments = 16;
constexpr std::size_t most_listed_environments = 8;
constexpr std::size_t config_cap = 64 * 1024;

// ---- versions

/// "3.12" of "3.12.3"; empty when there are no two numbers.
std::string minor_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || !parse_number(text.substr(0, dot))) return "";
  const std::size_t end = std::min(text.find_first_not_of("0123456789", dot + 1), text.size());
  return end == dot + 1 ? "" : std::string(text.substr(0, end));
}

/// "3.12" of "python3.12", "3.13t" of "python3.13t"; empty for any other name.
std::string version_in_name(std::string_view name) {
  constexpr std::string_view python = "python";
  if (!name.starts_with(python)) return "";
  const std::string_view rest = name.substr(python.size());
  const std::string version = minor_version(rest);
  return rest == version || rest == version + "t" ? std::string(rest) : "";
}

/// By the one folder lib/python3.* of the prefix.
Fact<std::string> version_by_folder(const Host& host, const std::string& prefix) {
  const auto names = host.list_folder(prefix + "/lib");
  if (!names) return Fact<std::string>::unknown(names.error());
  std::vector<std::string> versions;
  for (const std::string& name : *names) {
    if (std::string version = version_in_name(name); !version.empty()) versions.push_back(std::move(version));
  }
  if (versions.size() == 1) return versions.front();
  return Fact<std::string>::unknown(prefix + "/lib: " + (versions.empty() ? "no" : "more than one") +
                                    " folder python3.*");
}

// ---- sites

class SiteList {
 public:
  SiteList(const Host& host, std::string version) : host_(host), version_(std::move(version)) {}

  void add(const std::string& path, SiteKind kind) {
    if (!is_folder(host_, path)) return;
    const std::string place = host_.canonical(path).value_or(path);
    if (std::find(places_.begin(), places_.end(), place) != places_.end()) return;
    places_.push_back(place);
    sites_.push_back({path, kind});
  }

  /// What site.py adds for a prefix. Debian's own Python has folders of its own in place of the usual ones.
  void add_prefix(const std::string& prefix, SiteKind kind) {
    const std::string python = "/python" + version_;
    if (prefix == "/usr") {
      add("/usr/local/lib" + python + "/dist-packages", kind);
      add("/usr/lib/python3/dist-packages", kind);
      add("/usr/lib" + python + "/dist-packages", kind);
    }
    // lib64 comes first where the distribution has one of its own; elsewhere it is a link to lib.
    const std::string wide = prefix + "/lib64" + python + "/site-packages";
    const std::string plain = prefix + "/lib" + python + "/site-packages";
    const auto wide_place = host_.canonical(wide);
    if (wide_place.ok() && *wide_place != host_.canonical(plain).value_or("")) add(wide, kind);
    add(plain, kind);
  }

  void add_user() {
    const ProcessIdentity process = host_.process();
    if (!variable_of(host_, "PYTHONNOUSERSITE").empty() || process.uid != process.effective_uid) return;
    std::string base = variable_of(host_, "PYTHONUSERBASE");
    if (base.empty() && !process.home.empty()) base = process.home + "/.local";
    if (base.starts_with('/')) add(base + "/lib/python" + version_ + "/site-packages", SiteKind::user);
  }

  void add_python_path() {
    for (const std::string& folder : path_folders(variable_of(host_, "PYTHONPATH"))) add(folder, SiteKind::python_path);
  }

  [[nodiscard]] std::vector<PythonSite> take() { return std::move(sites_); }

 private:
  const Host& host_;
  std::string version_;
  std::vector<std::string> places_;
  std::vector<PythonSite> sites_;
};

/// `base_prefix`: of the interpreter behind a venv that includes its packages; empty for a venv that does not.
std::vector<PythonSite> sites_of_venv(const Host& host, const std::string& prefix, const std::string& version,
                                      const std::string& base_prefix) {
  SiteList sites(host, version);
  sites.add_python_path();
  sites.add_prefix(prefix, SiteKind::own);
  if (!base_prefix.empty()) {
    sites.add_user();
    sites.add_prefix(base_prefix, SiteKind::base);
  }
  return sites.take();
}

std::vector<PythonSite> sites_of_interpreter(const Host& host, const std::string& prefix, const std::string& version) {
  SiteList sites(host, version);
  sites.add_python_path();
  sites.add_user();
  sites.add_prefix(prefix, SiteKind::own);
  return sites.take();
}

// ---- environments

/// Keys of pyvenv.cfg are compared without case.
std::map<std::string, std::string> parse_venv_config(std::string_view text) {
  std::map<std::string, std::string> settings;
  for (const std::string_view line : lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    settings.emplace(to_lower(trim(line.substr(0, equals))), trim(line.substr(equals + 1)));
  }
  return settings;
}

std::string setting(const std::map<std::string, std::string>& settings, const char* name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

/// bin/python3 or bin/python as it is named, a link that leads nowhere included; empty when neither is there.
std::string executable_of(const Host& host, const std::string& prefix) {
  for (const char* name : {"/bin/python3", "/bin/python"}) {
    if (host.status(prefix + name, Links::keep).ok()) return prefix + name;
  }
  return "";
}

Fact<bool> interpreter_there(const Host& host, const PythonEnvironment& environment) {
  if (!environment.executable.empty()) return exists(host, environment.executable);
  const Fact<bool> folder = exists(host, environment.prefix);
  if (folder.is(false)) return false;
  return Fact<bool>::unknown(environment.prefix + "/bin: no python3");
}

PythonEnvironment describe_venv(const Host& host, const std::string& prefix, const std::string& config) {
  const auto settings = parse_venv_config(config);
  PythonEnvironment environment;
  environment.prefix = prefix;
  environment.kind = settings.contains("uv") ? PythonKind::uv : PythonKind::venv;
  const std::string home = setting(settings, "home");
  environment.home = home.empty() ? std::optional<std::string>() : home;

  std::string version = minor_version(setting(settings, "version"));
  if (version.empty()) version = minor_version(setting(settings, "version_info"));
  // The file does not tell a free-threaded interpreter; its folder does.
  if (!version.empty() && is_folder(host, prefix + "/lib/python" + version + "t")) version += "t";
  environment.version = version.empty() ? version_by_folder(host, prefix) : Fact<std::string>(version);
  if (!environment.version.known()) {
    environment.sites = Fact<std::vector<PythonSite>>::unknown(environment.version.why_unknown());
    return environment;
  }
  const bool with_base = to_lower(setting(settings, "include-system-site-packages")) == "true";
  environment.sites =
      sites_of_venv(host, prefix, *environment.version, with_base && home.starts_with('/') ? parent_folder(home) : "");
  return environment;
}

PythonKind kind_of_prefix(const Host& host, const std::string& prefix) {
  if (is_folder(host, prefix + "/conda-meta")) return PythonKind::conda;
  if (contains(prefix, "/.pyenv/versions/")) return PythonKind::pyenv;
  if (contains(prefix, "/uv/python/")) return PythonKind::uv;
  return PythonKind::system;
}

/// An interpreter that is no virtual environment, below `installed`; PYTHONHOME sends it elsewhere. `real` is its
/// executable without links.
PythonEnvironment describe_interpreter(const Host& host, const std::string& installed, const std::string& real) {
  const std::vector<std::string> homes = path_folders(variable_of(host, "PYTHONHOME"));
  const std::string prefix = homes.empty() ? installed : homes.front();
  PythonEnvironment environment;
  environment.prefix = prefix;
  environment.kind = kind_of_prefix(host, prefix);
  environment.home = std::optional<std::string>();
  const std::string version = version_in_name(file_name(real));
  environment.version = version.empty() ? version_by_folder(host, prefix) : Fact<std::string>(version);
  environment.sites = environment.version.known()
                          ? Fact<std::vector<PythonSite>>(sites_of_interpreter(host, prefix, *environment.version))
                          : Fact<std::vector<PythonSite>>::unknown(environment.version.why_unknown());
  return environment;
}

/// The environment of a folder that a variable names.
PythonEnvironment describe_prefix(const Host& host, const std::string& prefix) {
  const std::string executable = executable_of(host, prefix);
  const auto config = host.read_file(prefix + "/pyvenv.cfg", config_cap);
  const bool plain = !config.ok() && is_folder(host, prefix + "/conda-meta");
  PythonEnvironment environment =
      plain ? describe_interpreter(host, prefix, host.canonical(executable).value_or(executable))
            : describe_venv(host, prefix, config.value_or(""));
  environment.executable = executable;
  return environment;
}

PythonEnvironment describe_executable(const Host& host, const std::string& executable) {
  const std::string folder = parent_folder(executable);
  for (const std::string& place : {folder, parent_folder(folder)}) {
    const auto config = host.read_file(place + "/pyvenv.cfg", config_cap);
    if (!config) continue;
    PythonEnvironment environment = describe_venv(host, parent_folder(folder), *config);
    environment.executable = executable;
    return environment;
  }
  const std::string real = host.canonical(executable).value_or(executable);
  PythonEnvironment environment = describe_interpreter(host, parent_folder(parent_folder(real)), real);
  environment.executable = executable;
  return environment;
}

// ---- where to look

std::string first_in_path(const Host& host, const std::string& name) {
  for (const std::string& folder : off_windows(host, path_folders(variable_of(host, "PATH")))) {
    if (std::string executable = started_by(host, folder, name); !executable.empty()) return executable;
  }
  return "";
}

/// What stands in for an environment that the user named and that is none.
PythonEnvironment no_environment(const std::string& path, const Error& why) {
  PythonEnvironment environment;
  environment.prefix = path;
  environment.kind = Fact<PythonKind>::unknown(why);
  environment.version = Fact<std::string>::unknown(why);
  environment.home = std::optional<std::string>();
  environment.interpreter_there = false;
  environment.sites = Fact<std::vector<PythonSite>>::unknown(why);
  return environment;
}

/// The absolute path of what the user named: a path, or a command of PATH.
std::string named_path(const Host& host, std::string named) {
  while (named.size() > 1 && named.ends_with('/')) named.pop_back();
  // By its text alone: a link is what tells an environment from the interpreter behind it.
  const auto plain = [](const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); };
  if (named.starts_with('/')) return plain(named);
  std::string here = plain(host.process().working_folder + "/" + named);
  if (contains(named, "/") || host.status(here).ok()) return here;
  const std::string command = first_in_path(host, named);
  return command.empty() ? here : command;
}

/// The interpreter, or the environment's folder, that the user named.
PythonEnvironment describe_named(const Host& host, const std::string& named) {
  const std::string path = named_path(host, named);
  const auto status = host.status(path);
  if (!status) return no_environment(path, status.error());
  if (status->type == FileType::regular) return describe_executable(host, path);
  if (status->type != FileType::directory) return no_environment(path, {0, path + ": neither interpreter nor folder"});
  const std::string executable = executable_of(host, path);
  if (executable.empty()) return no_environment(path, {0, path + ": no bin/python3 in it"});
  // A folder with an interpreter and no settings of its own is a prefix such as /usr or one of pyenv's.
  return exists(host, path + "/pyvenv.cfg").is(true) ? describe_prefix(host, path)
                                                     : describe_executable(host, executable);
}

/// The environments that conda keeps a list of (facts/wheels.md 2.13), the base installation among them.
std::vector<std::string> listed_by_conda(const Host& host) {
  const std::string home = host.process().home;
  if (!home.starts_with('/')) return {};
  const std::string text = host.read_file(home + "/.conda/environments.txt", config_cap).value_or("");
  std::vector<std::string> prefixes;
  for (const std::string_view line : lines(text)) {
    const std::string_view prefix = trim(line);
    if (prefix.starts_with('/') && prefixes.size() < most_listed_environments) prefixes.emplace_back(prefix);
  }
  return off_windows(host, std::move(prefixes));
}

class EnvironmentList {
 public:
  explicit EnvironmentList(const Host& host) : host_(host) {}

  void add(PythonEnvironment environment, PythonFound found) {
    const std::string place = host_.canonical(environment.prefix).value_or(environment.prefix);
    if (list_.size() == most_environments || std::find(places_.begin(), places_.end(), place) != places_.end()) return;
    places_.push_back(place);
    environment.found = found;
    if (!environment.interpreter_there.known()) environment.interpreter_there = interpreter_there(host_, environment);
    list_.push_back(std::move(environment));
  }

  [[nodiscard]] std::vector<PythonEnvironment> take() { return std::move(list_); }

 private:
  const Host& host_;
  std::vector<std::string> places_;
  std::vector<PythonEnvironment> list_;
};

}  // namespace

std::vector<PythonEnvironment> find_python_environments(const Host& host, const std::string& named) {
  EnvironmentList environments(host);
  if (!named.empty()) environments.add(describe_named(host, named), PythonFound::named);
  const auto add_named = [&](const char* name, PythonFound found) {
    std::string prefix = variable_of(host, name);
    while (prefix.size() > 1 && prefix.ends_with('/')) prefix.pop_back();
    if (prefix.starts_with('/')) environments.add(describe_prefix(host, prefix), found);
  };
  add_named("VIRTUAL_ENV", PythonFound::virtual_env);
  add_named("CONDA_PREFIX", PythonFound::conda_prefix);
  const std::string project = host.process().working_folder + "/.venv";
  if (project.starts_with('/') && exists(host, project + "/pyvenv.cfg").is(true)) {
    environments.add(describe_prefix(host, project), PythonFound::working_folder);
  }
  for (const char* name : {"python3", "python"}) {
    const std::string executable = first_in_path(host, name);
    if (!executable.empty()) environments.add(describe_executable(host, executable), PythonFound::path);
  }
  for (const std::string& prefix : listed_by_conda(host)) {
    if (is_folder(host, prefix + "/conda-meta")) environments.add(describe_prefix(host, prefix), PythonFound::conda_list);
  }
  return environments.take();
}

}  // namespace sage
