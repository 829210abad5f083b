// Where does a variable come from? The environment does not say, but a forgotten line in ~/.profile is a frequent cause
// of trouble (facts/bugs.md B19), and one in ~/.bashrc does not reach programs that no interactive shell started
// (facts/wsl.md 2.8). The files are read as text, line by line, and never run: conditions, here-documents and
// expansions are not followed, so the result says "this line sets it", not "this line is the one that took effect".

#include "probes/startup_files.hpp"

#include <algorithm>
#include <array>

#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/quoting.hpp"

namespace sage {
namespace {

constexpr auto set_by_session = std::to_array<std::string_view>({
    "APPTAINER_CONTAINER",
    "CONDA_PREFIX",
    "HOME",
    "KUBERNETES_SERVICE_HOST",
    "LANG",
    "LC_ALL",
    "PATH",
    "SHELL",
    "SINGULARITY_CONTAINER",
    "SUDO_UID",
    "SUDO_USER",
    "VIRTUAL_ENV",
    "WSL_DISTRO_NAME",
    "WSL_INTEROP",
    "XDG_CONFIG_HOME",
    "container",
});

constexpr auto system_scripts = std::to_array<std::string_view>({"/etc/profile", "/etc/bash.bashrc"});

constexpr auto home_scripts = std::to_array<std::string_view>({
    "/.profile",
    "/.bash_profile",
    "/.bash_login",
    "/.bashrc",
    "/.zshenv",
    "/.zprofile",
    "/.zshrc",
});

/// What may stand before a command that is run by the same shell.
constexpr auto introducers = std::to_array<std::string_view>({"then", "else", "do", "{", "builtin", "command"});

/// NAME=value or NAME+=value; nullopt when the word is neither.
std::optional<NamedValue> as_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  std::string_view name = word.substr(0, equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  const bool valid =
      !name.empty() && (name[0] < '0' || name[0] > '9') && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!valid) return std::nullopt;
  return NamedValue{std::string(name), std::string(word.substr(equals + 1))};
}

using Words = std::vector<std::string>;

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-';
}

bool has_option(const Words& words, char letter, std::string_view long_name) {
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    return word == long_name || (is_option(word) && word[1] != '-' && contains(word, std::string_view(&letter, 1)));
  });
}

/// Words after the command and its options.
Words operands(const Words& words) {
  Words rest;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!is_option(words[i]) || !rest.empty()) rest.push_back(words[i]);
  }
  return rest;
}

std::vector<NamedValue> all_assignments(const Words& words) {
  std::vector<NamedValue> found;
  for (const std::string& word : words) {
    if (auto assignment = as_assignment(word)) found.push_back(std::move(*assignment));
  }
  return found;
}

/// What one command sets, whatever the variable.
std::vector<NamedValue> set_by_command(const Words& words) {
  const std::string& command = words[0];
  const Words rest = operands(words);
  if (command == "export") {
    if (has_option(words, 'n', "")) return {};
    return all_assignments(rest);
  }
  if (command == "declare" || command == "typeset") {
    return has_option(words, 'x', "") ? all_assignments(rest) : std::vector<NamedValue>{};
  }
  if (command == "setenv") {
    if (rest.empty()) return {};
    return {{rest[0], rest.size() > 1 ? rest[1] : std::string()}};
  }
  if (command == "set") {  // fish: set -gx NAME value...
    if (!has_option(words, 'x', "--export") || rest.empty()) return {};
    return {{rest[0], join(Words(rest.begin() + 1, rest.end()), " ")}};
  }
  std::vector<NamedValue> found = all_assignments(words);
  return found.size() == words.size() ? found : std::vector<NamedValue>{};
}

std::vector<NamedValue> set_by_script_line(std::string_view line) {
  std::vector<NamedValue> found;
  for (auto command : shell_commands(line)) {
    while (!command.empty() && std::find(introducers.begin(), introducers.end(), command[0]) != introducers.end()) {
      command.erase(command.begin());
    }
    if (command.empty()) continue;
    Words words;
    for (const std::string_view word : command) words.push_back(unquote(word));
    for (NamedValue& set : set_by_command(words)) found.push_back(std::move(set));
  }
  return found;
}

std::vector<NamedValue> set_by_list_line(std::string_view line) {
  line = trim(line);
  if (line.starts_with('#')) return {};
  if (line.starts_with("export ")) line = trim(line.substr(7));  // pam_env passes over it
  auto assignment = as_assignment(line);
  if (!assignment) return {};
  const std::string_view value = assignment->value;
  assignment->value = unquote(trim(value.substr(0, value.find(" #"))));
  return {std::move(*assignment)};
}

/// '...' in a form that both syntaxes read back: unquote() of it is the value.
std::string quoted(std::string_view value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

void add_folder(const Host& host, const std::string& folder, std::string_view ending, StartupSyntax syntax,
                std::vector<StartupFile>& files, std::optional<Error>& error) {
  const Result<std::vector<std::string>> names = list_if_there(host, folder);
  if (!names) {
    if (!error) error = names.error();
    return;
  }
  for (const std::string& name : *names) {
    if (name.ends_with(ending)) files.push_back({folder + "/" + name, syntax});
  }
}

std::string configuration_folder(const Host& host, const std::string& home) {
  const auto variables = host.environment();
  const auto named = variables.find("XDG_CONFIG_HOME");
  return named != variables.end() && named->second.starts_with('/') ? named->second : home + "/.config";
}

}  // namespace

bool looked_for_in_startup_files(std::string_view name) {
  return environment_allowed(name) &&
         std::find(set_by_session.begin(), set_by_session.end(), name) == set_by_session.end();
}

std::vector<NamedValue> assignments_in_line(std::string_view line, StartupSyntax syntax) {
  std::vector<NamedValue> found = syntax == StartupSyntax::list ? set_by_list_line(line) : set_by_script_line(line);
  found.erase(std::remove_if(found.begin(), found.end(),
                             [](const NamedValue& set) { return !looked_for_in_startup_files(set.name); }),
              found.end());
  return found;
}

std::vector<StartupFile> startup_files(const Host& host, std::optional<Error>& error) {
  std::vector<StartupFile> files = {{"/etc/environment", StartupSyntax::list}};
  for (const std::string_view path : system_scripts) files.push_back({std::string(path), StartupSyntax::script});
  add_folder(host, "/etc/profile.d", ".sh", StartupSyntax::script, files, error);

  const std::string home = host.process().home;
  if (!home.starts_with('/')) {
    if (!error) error = Error{0, "the home folder is not known"};
    return files;
  }
  for (const std::string_view name : home_scripts) files.push_back({home + std::string(name), StartupSyntax::script});
  const std::string configuration = configuration_folder(host, home);
  add_folder(host, configuration + "/environment.d", ".conf", StartupSyntax::list, files, error);
  files.push_back({configuration + "/fish/config.fish", StartupSyntax::script});
  add_folder(host, configuration + "/fish/conf.d", ".fish", StartupSyntax::script, files, error);
  return files;
}

std::string only_looked_for(std::string_view text, StartupSyntax syntax) {
  std::string kept;
  for (const std::string_view line : lines(text)) {
    std::vector<std::string> statements;
    for (const NamedValue& set : assignments_in_line(line, syntax)) {
      statements.push_back("export " + set.name + "=" + quoted(set.value));
    }
    kept += join(statements, "; ") + "\n";
  }
  return kept;
}

StartupAssignments probe_startup_files(const Host& host) {
  StartupAssignments result;
  for (const StartupFile& file : startup_files(host, result.error)) {
    const Result<std::string> text = host.read_file(file.path);
    if (!text) {
      if (!is_absent(text.error()) && !result.error) result.error = text.error();
      continue;
    }
    std::uint32_t number = 0;
    for (const std::string_view line : lines(*text)) {
      ++number;
      for (NamedValue& set : assignments_in_line(line, file.syntax)) {
        result.by_name[set.name].push_back({file.path, number, std::move(set.value)});
      }
    }
  }
  return result;
}

}  // namespace sage
