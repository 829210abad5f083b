#include "probes/installation.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "probes/base/paths.hpp"
#include "probes/installed_manifest.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

using Names = Result<std::vector<std::string>>;

/// Which of the files below `folder` are not there. A folder is listed once, however many files it has.
Fact<std::vector<std::string>> missing_of(const Host& host, const std::string& folder,
                                          const std::vector<std::string>& files) {
  std::map<std::string, Names> listed;
  std::vector<std::string> missing;
  for (const std::string& file : files) {
    const std::string parent = parent_folder(folder + "/" + file);
    auto names = listed.find(parent);
    if (names == listed.end()) names = listed.emplace(parent, list_if_there(host, parent)).first;
    if (!names->second) return Fact<std::vector<std::string>>::unknown(names->second.error());
    const std::vector<std::string>& there = *names->second;
    if (std::find(there.begin(), there.end(), file_name(file)) == there.end()) missing.push_back(file);
  }
  return missing;
}

/// What only a manifest tells is unknown for this reason.
void without_manifest(Installation& installation, const std::string& why) {
  const Error reason{0, why};
  for (Fact<std::string>* fact : {&installation.version, &installation.defect, &installation.tool_version, &installation.mark,
                                  &installation.source_sha256}) {
    *fact = Fact<std::string>::unknown(reason);
  }
  for (auto* fact : {&installation.targets, &installation.missing_files}) *fact = Fact<std::vector<std::string>>::unknown(reason);
}

void describe(const Host& host, const std::string& current, Installation& installation) {
  const std::string path = current + "/" + std::string(manifest_name);
  const Result<std::string> text = host.read_file(path, most_manifest_bytes);
  if (!text) {
    if (is_absent(text.error())) {
      installation.defect = text.error().text;
    } else {
      installation.defect = Fact<std::string>::unknown(text.error());
    }
    return;
  }
  Result<InstalledManifest> manifest = parse_installed_manifest(*text);
  if (!manifest) {
    installation.defect = path + ": " + manifest.error().text;
    return;
  }
  installation.defect = std::string();
  installation.missing_files = missing_of(host, current, manifest->files());
  installation.tool_version = std::move(manifest->tool_version);
  installation.mark = std::move(manifest->mark);
  installation.source_sha256 = std::move(manifest->source_sha256);
  std::vector<std::string> targets;
  for (const InstalledTarget& target : manifest->targets) targets.push_back(target.target);
  installation.targets = std::move(targets);
}

}  // namespace

std::string default_prefix(const Host& host) {
  const auto variables = host.environment();
  const auto data = variables.find("XDG_DATA_HOME");
  // A relative one is to be ignored (XDG Base Directory Specification).
  if (data != variables.end() && data->second.starts_with('/')) return data->second + "/sage-doctor";
  const std::string home = host.process().home;
  return home.starts_with('/') ? home + "/.local/share/sage-doctor" : "";
}

Installation probe_installation(const Host& host, const ProbeOptions& options) {
  Installation installation;
  without_manifest(installation, "nothing is installed");
  installation.program_source_sha256 = options.kernel_source_sha256;
  const std::string prefix = default_prefix(host);
  installation.prefix = prefix;
  if (prefix.empty()) {
    installation.present = false;
    return installation;
  }
  const std::string current = prefix + "/current";
  const Result<FileStatus> there = host.status(current, Links::keep);
  if (!there) {
    installation.present = is_absent(there.error()) ? Fact<bool>(false) : Fact<bool>::unknown(there.error());
    return installation;
  }
  installation.present = true;
  without_manifest(installation, "the manifest could not be read");
  if (const Result<std::string> target = host.read_link(current)) installation.version = file_name(*target);
  describe(host, current, installation);
  return installation;
}

}  // namespace sage
