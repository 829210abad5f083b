#include "probes/rocm_version.hpp"

#include <algorithm>

#include "probes/base/text.hpp"
#include "probes/base/version.hpp"
#include "probes/torch_version.hpp"

namespace sage {
namespace {

SourcedVersion unknown_version(const Error& why) {
  return {Fact<std::string>::unknown(why), Fact<std::string>::unknown(why)};
}

/// "7.2.0" of "7.2.0-47"; empty when the text does not begin with a number.
std::string leading_version(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string version(text.substr(0, end));
  while (version.ends_with('.')) version.pop_back();
  return version;
}

/// The number after `key` and an equals sign or a blank, of "HIP_VERSION_MAJOR=5" or "#define HIP_VERSION_MAJOR 5".
std::string number_of(std::string_view text, std::string_view key) {
  for (std::string_view line : lines(text)) {
    line = trim(line);
    constexpr std::string_view define = "#define ";
    if (line.starts_with(define)) line = trim(line.substr(define.size()));
    if (!line.starts_with(key)) continue;
    const std::string_view rest = line.substr(key.size());
    if (rest.empty() || (rest.front() != '=' && rest.front() != ' ')) continue;
    const std::string_view number = trim(rest.substr(1));
    if (parse_number(number)) return std::string(number);
  }
  return "";
}

}  // namespace

SourcedVersion version_of_tree(const Host& host, const std::string& tree) {
  Error why;
  for (const char* name : {"/.info/version", "/.info/version-dev"}) {
    const std::string file = tree + name;
    const auto text = host.read_file(file);
    if (!text) {
      if (why.text.empty()) why = text.error();
      continue;
    }
    const std::string version = leading_version(trim(*text));
    if (!version.empty()) return {version, file};
    why = Error{0, file + ": not a version"};
  }
  return unknown_version(why);
}

// `rocm` is exact, the local part of the version is next; `hip` agrees with ROCm in its first two numbers for every ROCm
// that wheels with their own runtime were made of, and its third is a build number (facts/wheels.md 2.6).
SourcedVersion version_of_torch(const Host& host, const std::string& package) {
  const std::string file = package + "/version.py";
  const auto text = host.read_file(file);
  if (!text) return unknown_version(text.error());
  const TorchVersion torch = parse_torch_version(*text);
  const std::string rocm = leading_version(torch.rocm.value_or(""));
  std::string local;
  std::string hip = leading_version(torch.hip.value_or(""));
  const std::string version = torch.version.value_or("");
  if (const std::size_t mark = version.find("+rocm"); mark != std::string::npos) {
    local = leading_version(std::string_view(version).substr(mark + 5));
  }
  const std::size_t build_number = hip.find('.', std::min(hip.find('.') + 1, hip.size()));
  if (build_number != std::string::npos) hip.resize(build_number);
  for (const std::string& said : {rocm, local, hip}) {
    if (!said.empty()) return {said, file};
  }
  return unknown_version({0, file + ": names no ROCm version"});
}

SourcedVersion version_of_sdk(const Host& host, const std::string& package) {
  SourcedVersion by_tree = version_of_tree(host, package);
  if (by_tree.version.known()) return by_tree;
  const std::string site = package.substr(0, package.rfind('/'));
  const auto names = host.list_folder(site);
  if (!names) return by_tree;
  constexpr std::string_view prefix = "rocm_sdk_core-";
  for (const std::string& name : *names) {
    if (!to_lower(name).starts_with(prefix) || !name.ends_with(".dist-info")) continue;
    const std::string version = leading_version(std::string_view(name).substr(prefix.size()));
    if (!version.empty()) return {version, site + "/" + name};
  }
  return by_tree;
}

SourcedVersion version_by_hip(const Host& host, const std::string& tree) {
  Error why;
  for (const char* name : {"/share/hip/version", "/lib/.hipInfo", "/include/hip/hip_version.h"}) {
    const std::string file = tree + name;
    const auto text = host.read_file(file);
    if (!text) {
      if (why.text.empty()) why = text.error();
      continue;
    }
    const std::string major = number_of(*text, "HIP_VERSION_MAJOR");
    const std::string minor = number_of(*text, "HIP_VERSION_MINOR");
    if (major.empty() || minor.empty()) {
      why = Error{0, file + ": names no HIP version"};
      continue;
    }
    const std::string hip = major + "." + minor;
    // Later the two count differently: ROCm 7.12 is still HIP 7.2, and ROCm 10.0 is HIP 7.15 (facts/wheels.md 2.6).
    if (version_below(hip, "7.3")) return {hip, file};
    why = Error{0, file + ": HIP " + hip + " does not tell the ROCm release"};
  }
  return unknown_version(why);
}

}  // namespace sage
