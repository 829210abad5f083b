#include "probes/build_tools.hpp"

#include <algorithm>
#include <array>

#include "probes/base/paths.hpp"
#include "probes/base/version.hpp"
#include "probes/look.hpp"
#include "probes/search_path.hpp"

namespace sage {
namespace {

constexpr auto tool_names =
    std::to_array<const char*>({"cc", "gcc", "clang", "c++", "g++", "make", "ninja", "cmake", "git"});

/// Where the header of this interpreter lies; a virtual environment uses that of the interpreter behind it.
Fact<std::string> python_header(const Host& host, const Python& python) {
  if (!python.environments.known()) return Fact<std::string>::unknown(python.environments.why_unknown());
  if (python.environments->empty()) return Fact<std::string>::unknown("no Python was found");
  const PythonEnvironment& environment = python.environments->front();
  if (!environment.version.known()) return Fact<std::string>::unknown(environment.version.why_unknown());
  const std::string tail = "/include/python" + *environment.version + "/Python.h";
  std::vector<std::string> places = {environment.prefix + tail};
  const std::optional<std::string> home = environment.home.value_or(std::nullopt);
  if (home && home->starts_with('/')) {
    places.push_back(parent_folder(*home) + tail);
    const auto real = host.canonical(*home + "/python" + *environment.version);
    if (real) places.push_back(parent_folder(parent_folder(*real)) + tail);
  }
  return first_file(host, places);
}

}  // namespace

std::vector<BuildTool> find_build_tools(const Host& host, const Python& python) {
  std::vector<BuildTool> tools;
  for (const char* name : tool_names) tools.push_back({name, find_in_path(host, name)});
  tools.push_back({"Python.h", python_header(host, python)});
  return tools;
}

Fact<std::vector<std::string>> find_cxx_headers(const Host& host) {
  using Versions = Fact<std::vector<std::string>>;
  const Result<std::vector<std::string>> names = list_if_there(host, "/usr/include/c++");
  if (!names) return Versions::unknown(names.error());
  std::vector<std::string> versions;
  for (const std::string& name : *names) {
    if (parse_version(name)) versions.push_back(name);
  }
  std::sort(versions.begin(), versions.end(),
            [](const std::string& a, const std::string& b) { return version_below(b, a); });
  return versions;
}

}  // namespace sage
