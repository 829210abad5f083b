#include "probes/search_path.hpp"

#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t most_folders = 128;

bool leads_to(const Host& host, const std::string& path, FileType type) {
  const auto status = host.status(path);
  return status.ok() && status->type == type;
}

}  // namespace

std::string variable_of(const Host& host, const std::string& name) {
  const auto variables = host.environment();
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

std::vector<std::string> path_folders(const std::string& list) {
  std::vector<std::string> folders;
  for (const std::string_view part : split(list, ':')) {
    std::string folder(part);
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    if (folder.starts_with('/') && folders.size() < most_folders) folders.push_back(std::move(folder));
  }
  return folders;
}

std::vector<std::string> search_path(const Host& host) {
  return path_folders(variable_of(host, "PATH"));
}

Fact<std::string> find_in_path(const Host& host, const std::string& name) {
  const std::vector<std::string> folders = search_path(host);
  if (folders.empty()) return Fact<std::string>::unknown("PATH is not set");
  for (const std::string& folder : folders) {
    std::string path = folder + "/" + name;
    if (is_file(host, path)) return path;
  }
  return std::string();
}

bool is_file(const Host& host, const std::string& path) {
  return leads_to(host, path, FileType::regular);
}

bool is_folder(const Host& host, const std::string& path) {
  return leads_to(host, path, FileType::directory);
}

std::string first_file(const Host& host, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (is_file(host, path)) return path;
  }
  return "";
}

}  // namespace sage
