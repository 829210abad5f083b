// The rocm-sdk wheels are parts of one tree that pip can take apart: one part of another date, a devel tree whose files
// are copies where they should be hard links to core's, links that lead to a file that an upgrade removed. Their records
// do not tell that; the few files that decide it are looked at here (facts/wheels.md 2.4, P6, P7; facts/bugs.md B31).

#include "probes/rocm_sdk_files.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/look.hpp"
#include "probes/torch_targets.hpp"

namespace sage {
namespace {

using List = Fact<std::vector<std::string>>;

constexpr auto runtime_stems = std::to_array<std::string_view>(
    {"libamdhip64.so", "libhsa-runtime64.so", "libamd_comgr.so", "libhiprtc.so"});

constexpr const char* bitcode = "/lib/llvm/amdgcn/bitcode";

/// More files of one stem than any build has are not looked at.
constexpr std::size_t most_runtime_files = 64;

std::string folder_called(const std::vector<std::string>& folders, std::string_view name) {
  const auto found = std::find_if(folders.begin(), folders.end(),
                                  [&](const std::string& folder) { return file_name(folder) == name; });
  return found == folders.end() ? "" : *found;
}

bool is_runtime(const std::string& name) {
  return std::any_of(runtime_stems.begin(), runtime_stems.end(),
                     [&](std::string_view stem) { return name.starts_with(stem); });
}

/// Paths of the runtime libraries in a folder; none when it does not exist.
Result<std::vector<std::string>> runtime_files(const Host& host, const std::string& folder) {
  auto names = list_if_there(host, folder);
  if (!names) return names;
  std::vector<std::string> paths;
  for (const std::string& name : *names) {
    if (is_runtime(name) && paths.size() < most_runtime_files) paths.push_back(folder + "/" + name);
  }
  return paths;
}

List kpack_targets(const Host& host, const std::vector<std::string>& sdk_folders) {
  std::set<std::string> targets;
  for (const std::string& folder : sdk_folders) {
    if (!file_name(folder).starts_with("_rocm_sdk_libraries")) continue;
    for (const char* place : {"/.kpack", "/.devel_links"}) {
      const auto names = list_if_there(host, folder + place);
      if (!names) return List::unknown(names.error());
      for (std::string& target : targets_in_names(*names)) targets.insert(std::move(target));
    }
  }
  return std::vector<std::string>(targets.begin(), targets.end());
}

Fact<bool> rocblas_has_code(const Host& host, const std::string& libraries) {
  if (libraries.empty()) return Fact<bool>::unknown("no libraries of the ROCm SDK");
  const std::string folder = libraries + "/lib";
  const auto names = host.list_folder(folder);
  if (!names) return Fact<bool>::unknown(names.error());
  const auto rocblas = std::find_if(names->begin(), names->end(),
                                    [](const std::string& name) { return name.starts_with("librocblas.so"); });
  if (rocblas == names->end()) return Fact<bool>::unknown(folder + ": no librocblas.so");
  ElfQuery query;
  query.device_code = true;
  const auto elf = host.elf(folder + "/" + *rocblas, query);
  if (!elf) return Fact<bool>::unknown(elf.error());
  if (!elf->device_code) return Fact<bool>::unknown(folder + "/" + *rocblas + ": no section .hip_fatbin");
  return elf->device_code->in_file;
}

List dangling_links(const Host& host, const std::vector<std::string>& sdk_folders, const std::string& torch_libraries) {
  std::vector<std::string> folders;
  for (const std::string& folder : sdk_folders) folders.push_back(folder + "/lib");
  if (!torch_libraries.empty()) folders.push_back(torch_libraries);
  std::vector<std::string> dangling;
  for (const std::string& folder : folders) {
    const auto files = runtime_files(host, folder);
    if (!files) return List::unknown(files.error());
    for (const std::string& file : *files) {
      const auto link = host.status(file, Links::keep);
      if (link.ok() && link->type == FileType::symlink && exists(host, file).is(false)) dangling.push_back(file);
    }
  }
  return dangling;
}

List copied_libraries(const Host& host, const std::string& core, const std::string& devel) {
  const auto files = runtime_files(host, core + "/lib");
  if (!files) return List::unknown(files.error());
  std::vector<std::string> copied;
  for (const std::string& file : *files) {
    const std::string twin = devel + "/lib/" + file_name(file);
    const auto original = host.status(file);
    const auto other = host.status(twin);
    if (!other && is_absent(other.error())) continue;
    if (!original) return List::unknown(original.error());
    if (!other) return List::unknown(other.error());
    if (original->inode == 0 || other->inode == 0) return List::unknown(twin + ": its inode is not known");
    if (original->inode != other->inode) copied.push_back(twin);
  }
  return copied;
}

List missing_bitcode(const Host& host, const std::string& core, const std::string& devel) {
  const auto wanted = host.list_folder(core + bitcode);
  if (!wanted) return List::unknown(wanted.error());
  const auto there = list_if_there(host, devel + bitcode);
  if (!there) return List::unknown(there.error());
  std::vector<std::string> missing;
  for (const std::string& name : *wanted) {
    if (name.ends_with(".bc") && !std::binary_search(there->begin(), there->end(), name)) missing.push_back(name);
  }
  return missing;
}

}  // namespace

Fact<DevelState> devel_state(const Host& host, const std::string& site) {
  const auto names = host.list_folder(site + "/rocm_sdk_devel");
  if (!names) return Fact<DevelState>::unknown(names.error());
  const bool packed =
      std::any_of(names->begin(), names->end(), [](const std::string& name) { return name.starts_with("_devel.tar"); });
  const Fact<bool> unpacked = exists(host, site + "/_rocm_sdk_devel/__init__.py");
  if (!unpacked.known()) return Fact<DevelState>::unknown(unpacked.why_unknown());
  if (packed) return *unpacked ? DevelState::interrupted : DevelState::not_expanded;
  if (*unpacked) return DevelState::expanded;
  return Fact<DevelState>::unknown(site + ": rocm_sdk_devel has no archive and was not expanded");
}

std::string sdk_libraries(const std::vector<std::string>& sdk_folders) {
  const auto found = std::find_if(sdk_folders.begin(), sdk_folders.end(), [](const std::string& folder) {
    return file_name(folder).starts_with("_rocm_sdk_libraries");
  });
  return found == sdk_folders.end() ? "" : *found;
}

SdkFiles describe_sdk_files(const Host& host, const std::vector<std::string>& sdk_folders,
                            const std::string& torch_libraries, const Fact<DevelState>& devel) {
  SdkFiles files;
  files.kpack_targets = kpack_targets(host, sdk_folders);
  files.code_in_file = rocblas_has_code(host, sdk_libraries(sdk_folders));
  files.dangling = dangling_links(host, sdk_folders, torch_libraries);
  const std::string core = folder_called(sdk_folders, "_rocm_sdk_core");
  const std::string expanded = folder_called(sdk_folders, "_rocm_sdk_devel");
  if (!devel.known()) {
    files.copied = files.missing_bitcode = List::unknown(devel.why_unknown());
  } else if (!devel.is(DevelState::expanded) || core.empty() || expanded.empty()) {
    files.copied = List(std::vector<std::string>());
    files.missing_bitcode = List(std::vector<std::string>());
  } else {
    files.copied = copied_libraries(host, core, expanded);
    files.missing_bitcode = missing_bitcode(host, core, expanded);
  }
  return files;
}

}  // namespace sage
