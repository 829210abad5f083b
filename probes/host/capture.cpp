#include "probes/host/capture.hpp"

#include <algorithm>

#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t longest_path = 4096;

FileType type_of(const Capture& capture, const std::string& path) {
  const auto entry = capture.paths.find(path);
  if (entry != capture.paths.end()) return entry->second.type;
  return capture.elf.contains(path) ? FileType::regular : FileType::directory;
}

std::optional<Error> parents_problem(const Capture& capture, const std::string& path) {
  for (std::string folder = parent_path(path); !folder.empty(); folder = parent_path(folder)) {
    const FileType type = type_of(capture, folder);
    if (type == FileType::directory) continue;
    if (type == FileType::symlink) {
      return Error{0, "'" + path + "' lies below the symlink '" + folder + "' (describe it below the link's target)"};
    }
    return Error{0, "'" + path + "' lies below '" + folder + "', which is no directory"};
  }
  return std::nullopt;
}

}  // namespace

ProcessIdentity default_process() {
  ProcessIdentity process;
  process.uid = 1000;
  process.effective_uid = 1000;
  process.gid = 1000;
  process.user = "user1";
  process.host_name = "host1";
  process.home = "/home/user1";
  process.working_folder = "/home/user1";
  return process;
}

std::optional<Error> tree_problem(const Capture& capture) {
  for (const auto& [path, entry] : capture.paths) {
    if (auto problem = parents_problem(capture, path)) return problem;
  }
  for (const auto& [path, facts] : capture.elf) {
    if (type_of(capture, path) != FileType::regular) return Error{0, "ELF entry '" + path + "' is no regular file"};
    if (auto problem = parents_problem(capture, path)) return problem;
  }
  return std::nullopt;
}

Error with_usual_text(const Error& error, const std::string& subject) {
  return error.text.empty() ? system_error(error.number, subject) : error;
}

Error without_usual_text(const Error& error, const std::string& subject) {
  return error.number != 0 && error == system_error(error.number, subject) ? Error{error.number, {}} : error;
}

std::string parent_path(const std::string& path) {
  if (path.size() <= 1) return {};
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_plain_absolute_path(std::string_view path) {
  if (path == "/") return true;
  if (path.size() > longest_path || !path.starts_with('/')) return false;
  if (path.find('\0') != std::string_view::npos) return false;
  const std::vector<std::string_view> parts = split(path.substr(1), '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

}  // namespace sage
