// An installed wheel is two folders: the package, and <name>-<version>.dist-info, whose RECORD lists every file of both
// with its digest. `pip uninstall` removes what RECORD lists, and nothing else; so a file that RECORD misses would stay
// for ever, and one that it lists wrongly could be somebody else's.
//
// Both are written into a hidden folder beside them and moved into place by rename(2). Where one of the same name is
// there, the two change places at once (RENAME_EXCHANGE), so that a process killed in between leaves a package that
// imports. The dist-info goes first: whatever is there then has an owner that the next install recognises.

#include "doctor/build/install/wheel.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <utility>

#include "doctor/build/install/digest.hpp"
#include "doctor/build/install/files.hpp"
#include "probes/base/errno_name.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

constexpr std::string_view installer = "sage-doctor";
constexpr std::string_view staged_prefix = ".sage-doctor-attention-";
constexpr std::string_view dist_info_suffix = ".dist-info";
constexpr std::size_t longest_text = 1u << 20;

bool is_there(const std::string& path) {
  struct stat there {};
  return lstat(path.c_str(), &there) == 0;
}

std::vector<std::string> names_in(const std::string& folder) {
  constexpr std::size_t most = 100000;
  return file_calls::list(folder, Links::follow, most).value_or({});
}

std::string text_of(const std::string& path) {
  return std::string(trim(file_calls::read_whole(path, Links::keep, longest_text).value_or("")));
}

/// "0.1.0" of "sage_doctor_attention-0.1.0.dist-info"; empty for another distribution's. Names are compared as PyPA
/// normalises them: without case, with - _ . alike.
std::string version_in(std::string name) {
  name = to_lower(name);
  if (!name.ends_with(dist_info_suffix)) return "";
  name.resize(name.size() - dist_info_suffix.size());
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return "";
  std::string distribution = name.substr(0, dash);
  std::replace_if(
      distribution.begin(), distribution.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return distribution == wheel_package ? name.substr(dash + 1) : "";
}

/// What is installed under our name.
struct Present {
  std::vector<std::string> dist_infos;  ///< names in site-packages
  std::optional<std::string> version;   ///< of the first
};

/// The Error: it is there and not ours to replace.
Result<Present> present_in(const std::string& site_packages) {
  Present found;
  for (const std::string& name : names_in(site_packages)) {
    const std::string version = version_in(name);
    if (version.empty()) continue;
    const std::string by = text_of(site_packages + "/" + name + "/INSTALLER");
    if (by != installer) {
      return Error{0, std::string(wheel_distribution) + " " + version + " in " + site_packages + " was installed by " +
                          (by.empty() ? "somebody else" : by) + ": remove it first (python -m pip uninstall " +
                          std::string(wheel_distribution) + ")"};
    }
    found.dist_infos.push_back(name);
    if (!found.version) found.version = version;
  }
  const std::string package = site_packages + "/" + std::string(wheel_package);
  if (found.dist_infos.empty() && is_there(package)) {
    return Error{EEXIST, package + " is there and belongs to no installed package: move it away first"};
  }
  return found;
}

std::optional<Error> refuse_request(const WheelRequest& request) {
  // PEP 440, and nothing that means something in a file name.
  if (!safe_name(request.version) || contains(request.version, "-")) {
    return Error{EINVAL, "\"" + request.version + "\" can't be the version of a Python package"};
  }
  std::set<std::string> seen;
  for (const WheelFile& file : request.files) {
    const bool in_record = !contains(file.path, ",") && !contains(file.path, "\"");
    if (!safe_relative_path(file.path) || !in_record || !seen.insert(file.path).second) {
      return Error{EINVAL, "\"" + file.path + "\" can't be a file of a Python package"};
    }
  }
  struct stat there {};
  if (stat(request.site_packages.c_str(), &there) != 0)
    return system_error(errno, "cannot install into " + request.site_packages);
  if (!S_ISDIR(there.st_mode))
    return Error{ENOTDIR, "cannot install into " + request.site_packages + ": it is no folder"};
  if (there.st_uid != geteuid()) {
    return Error{EPERM, request.site_packages + " belongs to user " + std::to_string(there.st_uid) +
                            ", and this process runs as user " + std::to_string(geteuid()) +
                            ": run it as that user, or name an environment of your own"};
  }
  return std::nullopt;
}

std::string metadata_text(const std::string& version) {
  return "Metadata-Version: 2.1\nName: " + std::string(wheel_distribution) + "\nVersion: " + version +
         "\nSummary: Quantised attention for PyTorch, with kernels built by sage-doctor\nRequires-Python: >=3.8\n";
}

std::string wheel_text(const std::string& tag) {
  return "Wheel-Version: 1.0\nGenerator: sage-doctor\nRoot-Is-Purelib: false\nTag: " + tag + "\n";
}

/// All files of the wheel by their paths below site-packages, RECORD last.
std::vector<WheelFile> all_files(const WheelRequest& request, const std::string& dist_info) {
  std::vector<WheelFile> files;
  for (const WheelFile& file : request.files)
    files.push_back({std::string(wheel_package) + "/" + file.path, file.bytes});
  files.push_back({dist_info + "/METADATA", metadata_text(request.version)});
  files.push_back({dist_info + "/WHEEL", wheel_text(request.tag)});
  files.push_back({dist_info + "/INSTALLER", std::string(installer) + "\n"});
  std::string record;
  for (const WheelFile& file : files) {
    record += file.path + ",sha256=" + sha256_base64url(file.bytes) + "," + std::to_string(file.bytes.size()) + "\n";
  }
  const std::string path = dist_info + "/RECORD";
  files.push_back({path, record + path + ",,\n"});
  return files;
}

/// Moves the staged folder to its place. What was there is in the staged place afterwards.
std::optional<Error> swap_in(const std::string& staged, const std::string& place) {
  if (!is_there(place)) {
    if (std::rename(staged.c_str(), place.c_str()) == 0) return std::nullopt;
    return write_error(errno, "move " + staged + " to " + place);
  }
  if (renameat2(AT_FDCWD, staged.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return std::nullopt;
  if (errno != EINVAL && errno != ENOSYS) return write_error(errno, "replace " + place);
  // A filesystem without that call (NFS, 9p): for a moment there is none.
  const std::string old = staged + ".old";
  if (std::rename(place.c_str(), old.c_str()) != 0) return write_error(errno, "move " + place + " away");
  if (std::rename(staged.c_str(), place.c_str()) == 0) return std::nullopt;
  const Error error = write_error(errno, "move " + staged + " to " + place);
  static_cast<void>(std::rename(old.c_str(), place.c_str()));
  return error;
}

std::optional<Error> write_staged(const std::string& staged, const std::vector<WheelFile>& files) {
  for (const WheelFile& file : files) {
    if (auto error = write_new_file(staged + "/" + file.path, file.bytes)) return error;
  }
  return sync_tree(staged);
}

/// Removes what earlier installs that were killed have left.
std::optional<Error> sweep(const std::string& site_packages) {
  for (const std::string& name : names_in(site_packages)) {
    if (!name.starts_with(staged_prefix)) continue;
    if (auto error = remove_tree(site_packages + "/" + name)) return error;
  }
  return std::nullopt;
}

std::optional<Error> move_into_place(const std::string& staged, const std::string& site_packages,
                                     const std::string& dist_info, const Present& before) {
  for (const std::string& name : {dist_info, std::string(wheel_package)}) {
    if (auto error = swap_in(staged + "/" + name, site_packages + "/" + name)) return error;
  }
  // As a whole: half a dist-info would say that somebody else had installed it.
  for (const std::string& name : before.dist_infos) {
    const std::string place = site_packages + "/" + name;
    const std::string away = staged + "/old-" + name;
    if (name != dist_info && std::rename(place.c_str(), away.c_str()) != 0)
      return write_error(errno, "remove " + place);
  }
  return sync_folder(site_packages);
}

}  // namespace

Result<WheelInstalled> install_wheel(const WheelRequest& request) {
  if (auto refused = refuse_request(request)) return *refused;
  const std::string& site = request.site_packages;
  const Descriptor folder(::open(site.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return system_error(errno, "cannot open " + site);
  if (flock(folder.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Error{EWOULDBLOCK, "another sage-doctor installs into " + site + " right now; try again when it is done"};
  }
  const Result<Present> before = present_in(site);
  if (!before) return before.error();
  if (auto error = sweep(site)) return *error;

  const std::string staged = site + "/" + std::string(staged_prefix) + std::to_string(getpid());
  const std::string dist_info = std::string(wheel_package) + "-" + request.version + std::string(dist_info_suffix);
  auto error = write_staged(staged, all_files(request, dist_info));
  if (!error) error = move_into_place(staged, site, dist_info, *before);
  auto left = remove_tree(staged);
  if (!error) error = std::move(left);
  if (error) return *error;
  return WheelInstalled{site + "/" + std::string(wheel_package), site + "/" + dist_info, before->version};
}

}  // namespace sage
