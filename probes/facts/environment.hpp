#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/fact.hpp"

namespace sage {

/// A line of a start-up file that sets a variable.
struct Assignment {
  std::string file;
  std::uint32_t line = 0;
  std::string value;  ///< as written, quotes removed, nothing expanded

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("file", &Assignment::file);
    visit("line", &Assignment::line);
    visit("value", &Assignment::value);
  }
};

/// One variable of the allow-list.
struct Variable {
  std::string name;
  Fact<std::optional<std::string>> value;   ///< nullopt: not set. Set but empty is an empty string.
  Fact<std::vector<Assignment>> assignments;  ///< in ~/.profile, ~/.bashrc, /etc/environment ...

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("name", &Variable::name);
    visit("value", &Variable::value);
    visit("assignments", &Variable::assignments);
  }
};

/// A folder or file that one of the path variables names, and whether it is there.
struct NamedPath {
  std::string variable;
  std::string path;
  Fact<bool> exists;
  Fact<std::string> canonical = {};  ///< where it leads, symbolic links resolved

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("variable", &NamedPath::variable);
    visit("path", &NamedPath::path);
    visit("exists", &NamedPath::exists);
    visit("canonical", &NamedPath::canonical);
  }
};

/// The allow-listed part of the environment: every variable of the list is present, set or not, plus the per-node
/// overrides HSA_OVERRIDE_GFX_VERSION_<n> that are set.
struct Environment {
  std::vector<Variable> variables;
  Fact<std::vector<NamedPath>> named_paths;  ///< of ROCM_HOME, ROCM_PATH, HIP_PATH, LD_LIBRARY_PATH, LD_PRELOAD ...

  /// The value of an allow-listed variable. A name that is not in the list is unknown.
  [[nodiscard]] Fact<std::optional<std::string>> get(std::string_view name) const;

  /// The whole entry, or nullptr.
  [[nodiscard]] const Variable* find(std::string_view name) const;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("variables", &Environment::variables);
    visit("named_paths", &Environment::named_paths);
  }
};

}  // namespace sage
