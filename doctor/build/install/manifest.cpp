#include "doctor/build/install/manifest.hpp"

#include <optional>
#include <set>
#include <utility>

#include "doctor/build/install/digest.hpp"
#include "probes/base/paths.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/manifest_json.hpp"

namespace sage {
namespace {

/// A file with the place in the manifest that names it.
struct ListedFile {
  std::string place;
  std::string file;
  std::string sha256;
};

std::string indexed(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::vector<ListedFile> listed_files(const Manifest& manifest) {
  std::vector<ListedFile> files = {{"library", manifest.library.file, manifest.library.sha256}};
  for (std::size_t t = 0; t < manifest.targets.size(); ++t) {
    const std::vector<ManifestKernel>& kernels = manifest.targets[t].kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      files.push_back({indexed("targets", t) + "." + indexed("kernels", k), kernels[k].file, kernels[k].sha256});
    }
  }
  for (std::size_t i = 0; i < manifest.other_files.size(); ++i) {
    files.push_back({indexed("other_files", i), manifest.other_files[i].file, manifest.other_files[i].sha256});
  }
  return files;
}

std::optional<Error> wrong_file(const Manifest& manifest) {
  std::set<std::string> seen;
  for (const ListedFile& listed : listed_files(manifest)) {
    if (!safe_relative_path(listed.file)) return Error{0, listed.place + ".file: no path below the installation"};
    if (!seen.insert(listed.file).second) return Error{0, listed.place + ".file: " + listed.file + " is listed twice"};
    if (!is_sha256_hex(listed.sha256)) return Error{0, listed.place + ".sha256: no SHA-256 in hex"};
  }
  return std::nullopt;
}

/// Texts that must say something.
std::optional<Error> missing_text(const Manifest& manifest) {
  std::vector<std::pair<std::string, const std::string*>> needed = {
      {"tool_version", &manifest.tool_version}, {"created", &manifest.created}, {"mark", &manifest.mark}};
  for (std::size_t t = 0; t < manifest.targets.size(); ++t) {
    const ManifestTarget& target = manifest.targets[t];
    const std::string place = indexed("targets", t);
    needed.emplace_back(place + ".target", &target.target);
    for (std::size_t k = 0; k < target.kernels.size(); ++k) {
      needed.emplace_back(place + "." + indexed("kernels", k) + ".name", &target.kernels[k].name);
    }
  }
  for (const auto& [place, text] : needed) {
    if (text->empty()) return Error{0, place + ": is missing or empty"};
  }
  return std::nullopt;
}

std::string digest_now(const std::string& path, std::string& problem) {
  constexpr std::size_t longest = 512u << 20;
  const Result<std::string> bytes = file_calls::read_whole(path, Links::follow, longest);
  if (bytes) return sha256_hex(*bytes);
  problem = bytes.error().number == ENOENT ? "it is gone" : bytes.error().text;
  return "";
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  return json_walk::to_json_value(manifest).dump(2, ' ', false, json_walk::Json::error_handler_t::replace) + "\n";
}

Result<Manifest> manifest_from_text(std::string_view text) {
  Result<Manifest> manifest = parse_manifest_as<Manifest>(text);
  if (!manifest) return manifest;
  if (auto problem = missing_text(*manifest)) return *problem;
  if (!is_sha256_hex(manifest->source_sha256)) return Error{0, "source_sha256: no SHA-256 in hex"};
  if (auto problem = wrong_file(*manifest)) return *problem;
  return manifest;
}

Result<Manifest> read_manifest(const std::string& version_folder) {
  const std::string path = version_folder + "/" + std::string(manifest_name);
  const Result<std::string> text = file_calls::read_whole(path, Links::follow, most_manifest_bytes);
  if (!text) return Error{text.error().number, path + ": " + text.error().text};
  Result<Manifest> manifest = manifest_from_text(*text);
  if (!manifest) return Error{manifest.error().number, path + ": " + manifest.error().text};
  return manifest;
}

std::vector<std::string> altered_files(const std::string& version_folder, const Manifest& manifest) {
  std::vector<std::string> complaints;
  for (const ListedFile& listed : listed_files(manifest)) {
    std::string problem = "it is not as it was installed";
    if (digest_now(version_folder + "/" + listed.file, problem) != listed.sha256) {
      complaints.push_back(listed.file + ": " + problem);
    }
  }
  return complaints;
}

}  // namespace sage
