// A file system made of a map. Only the paths that something was recorded about are in the map; the folders above them
// are implied. Every question walks to its path first, because a symlink may stand anywhere on the way
// (/sys/class/drm/card0 is one); what is asked of the file at the end is then read from the entry, or computed from it
// where the entry does not say.

#include "probes/host/captured_host.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "probes/host/path_walk.hpp"

namespace sage {
namespace {

template <class T>
Result<T> replay(const Captured<T>& captured, const std::string& subject) {
  if (!captured) return system_error(ENOENT, subject);
  if (!captured->ok()) return with_usual_text(captured->error(), subject);
  return *captured;
}

/// A path without symlinks and what the capture says there; `entry` is null where only implied.
struct Place {
  std::string path;
  const CapturedPath* entry = nullptr;
  FileType type = FileType::directory;
};

class CapturedHost : public Host {
 public:
  explicit CapturedHost(Capture capture) : capture_(std::move(capture)) {
    folders_.emplace("/", std::set<std::string>{});
    for (const auto& [path, entry] : capture_.paths) {
      add_to_parents(path);
      if (entry.type == FileType::directory) folders_[path].insert(entry.names.begin(), entry.names.end());
    }
    for (const auto& [path, facts] : capture_.elf) add_to_parents(path);
  }

  Result<std::string> read_file(const std::string& path, std::size_t cap) const override {
    const Result<const CapturedPath*> file = file_with_contents(path);
    if (!file) return file.error();
    const std::string& contents = *(*file)->contents;
    if ((*file)->only_end) return with_usual_text((*file)->read_error.value_or(Error{EFBIG, {}}), path);
    if (contents.size() > cap) return system_error(EFBIG, path);
    return contents;
  }

  Result<std::string> read_file_end(const std::string& path, std::size_t count) const override {
    const Result<const CapturedPath*> file = file_with_contents(path);
    if (!file) return file.error();
    const std::string& contents = *(*file)->contents;
    return contents.substr(contents.size() - std::min(count, contents.size()));
  }

  Result<std::vector<std::string>> list_folder(const std::string& path) const override {
    const Result<Place> place = resolve(path, Links::follow);
    if (!place) return place.error();
    if (place->entry != nullptr && place->entry->list_error) return with_usual_text(*place->entry->list_error, path);
    if (place->type != FileType::directory) return system_error(ENOTDIR, path);
    const std::set<std::string>& names = folders_.at(place->path);
    return std::vector<std::string>(names.begin(), names.end());
  }

  Result<FileStatus> status(const std::string& path, Links links) const override {
    const Result<Place> place = resolve(path, links);
    if (!place) return place.error();
    return status_of(*place);
  }

  Result<std::string> read_link(const std::string& path) const override {
    const Result<Place> place = resolve(path, Links::keep);
    if (!place) return place.error();
    if (place->type != FileType::symlink) return system_error(EINVAL, path);
    return place->entry->target;
  }

  Result<std::string> canonical(const std::string& path) const override {
    const Result<Place> place = resolve(path, Links::follow);
    if (!place) return place.error();
    return place->path;
  }

  Errno access_device(const std::string& path) const override {
    const Result<Place> place = resolve(path, Links::follow);
    if (!place) return Errno{place.error().number};
    if (place->entry != nullptr && place->entry->access) return *place->entry->access;
    return Errno{may_read_and_write(status_of(*place)) ? 0 : EACCES};
  }

  Errno open_device(const std::string& path) const override {
    const Result<Place> place = resolve(path, Links::follow);
    if (!place) return Errno{place.error().number};
    if (place->entry != nullptr && place->entry->open) return *place->entry->open;
    if (place->type == FileType::directory) return Errno{EISDIR};
    return Errno{may_read_and_write(status_of(*place)) ? 0 : EACCES};
  }

  Result<std::uint64_t> filesystem_size(const std::string& path) const override {
    const auto size = capture_.filesystem_sizes.find(path);
    if (size == capture_.filesystem_sizes.end()) return system_error(ENOENT, path);
    if (!size->second.ok()) return with_usual_text(size->second.error(), path);
    return size->second;
  }

  std::map<std::string, std::string> environment() const override { return capture_.environment; }
  ProcessIdentity process() const override { return capture_.process; }
  std::int64_t now() const override { return capture_.now; }

  Result<std::vector<Mount>> mounts() const override { return replay(capture_.mounts, error_subject::mounts); }
  Result<LibcInfo> libc() const override { return replay(capture_.libc, error_subject::libc); }
  Result<std::vector<LoaderCacheEntry>> loader_cache() const override {
    return replay(capture_.loader_cache, error_subject::loader_cache);
  }
  Result<std::vector<std::string>> kernel_log() const override {
    return replay(capture_.kernel_log, error_subject::kernel_log);
  }
  Result<std::vector<DxgAdapterReply>> dxg_adapters() const override {
    return replay(capture_.dxg_adapters, error_subject::dxg_adapters);
  }

  Result<std::vector<DrmDeviceReply>> drm_devices(const std::vector<std::string>& render_nodes) const override {
    const Result<std::vector<DrmDeviceReply>> all = replay(capture_.drm_devices, error_subject::drm_devices);
    if (!all) return all.error();
    std::vector<DrmDeviceReply> asked;
    for (const DrmDeviceReply& device : *all) {
      const bool wanted = std::find(render_nodes.begin(), render_nodes.end(), device.render_node) != render_nodes.end();
      if (wanted) asked.push_back(device);
    }
    return asked;
  }

  Result<ElfFacts> elf(const std::string& path, const ElfQuery& query) const override {
    const Result<Place> place = resolve(path, Links::follow);
    if (!place) return place.error();
    const auto found = capture_.elf.find(place->path);
    if (found == capture_.elf.end()) {
      if (place->entry != nullptr && place->entry->read_error) return with_usual_text(*place->entry->read_error, path);
      return system_error(no_contents(place->type).value_or(ENOEXEC), path);
    }
    if (!found->second.ok()) return with_usual_text(found->second.error(), path);
    ElfFacts facts = *found->second;
    facts.symbols = answers(query.symbols, facts.symbols);
    facts.strings = answers(query.strings, facts.strings);
    if (!query.versions) {
      facts.version_needs.clear();
      facts.version_definitions.clear();
    }
    if (!query.device_code) facts.device_code.reset();
    return facts;
  }

  Result<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                    std::chrono::milliseconds) const override {
    for (const CapturedProgram& program : capture_.programs) {
      if (program.arguments != arguments) continue;
      if (!program.result.ok())
        return with_usual_text(program.result.error(), arguments.empty() ? "program" : arguments.front());
      return program.result;
    }
    return system_error(ENOENT, arguments.empty() ? "program" : arguments.front());
  }

 private:
  void add_to_parents(const std::string& path) {
    std::string child = path;
    for (std::string folder = parent_path(child); !folder.empty(); folder = parent_path(child)) {
      if (!folders_[folder].insert(child.substr(child.rfind('/') + 1)).second) return;
      child = std::move(folder);
    }
  }

  [[nodiscard]] const CapturedPath* entry_for(const std::string& path) const {
    const auto entry = capture_.paths.find(path);
    return entry == capture_.paths.end() ? nullptr : &entry->second;
  }

  /// The file at a path without symlinks; nullopt when there is none.
  [[nodiscard]] std::optional<Place> place_at(const std::string& path) const {
    if (const CapturedPath* entry = entry_for(path)) return Place{path, entry, entry->type};
    if (capture_.elf.contains(path)) return Place{path, nullptr, FileType::regular};
    if (folders_.contains(path)) return Place{path, nullptr, FileType::directory};
    return std::nullopt;
  }

  /// Errors name the path that was asked for.
  [[nodiscard]] Result<Place> resolve(const std::string& asked, Links last) const {
    const auto look = [&](const std::string& path) -> Result<PathLook> {
      const std::optional<Place> place = place_at(path);
      if (!place) return Error{ENOENT, {}};
      if (place->entry == nullptr) return PathLook{place->type, {}};
      if (place->entry->status_error) return *place->entry->status_error;
      return PathLook{place->type, place->entry->target};
    };
    const Result<std::string> path = walk_path(asked, capture_.process.working_folder, last, look);
    if (!path) return path.error();
    return *place_at(*path);
  }

  /// The errno of reading what is no regular file.
  [[nodiscard]] static std::optional<int> no_contents(FileType type) {
    if (type == FileType::regular) return std::nullopt;
    return type == FileType::directory ? EISDIR : EINVAL;
  }

  /// An entry that has contents.
  [[nodiscard]] Result<const CapturedPath*> file_with_contents(const std::string& path) const {
    const Result<Place> place = resolve(path, Links::follow);
    if (!place) return place.error();
    const bool only_end_known = place->entry != nullptr && place->entry->only_end;
    if (place->entry != nullptr && place->entry->read_error && !only_end_known) {
      return with_usual_text(*place->entry->read_error, path);
    }
    if (const auto number = no_contents(place->type)) return system_error(*number, path);
    if (place->entry == nullptr || !place->entry->contents) {
      return Error{ENODATA, path + ": the capture does not hold the contents"};
    }
    return place->entry;
  }

  [[nodiscard]] static FileStatus status_of(const Place& place) {
    static constexpr auto default_mode = [](FileType type) -> std::uint32_t {
      if (type == FileType::symlink) return 0777;
      return type == FileType::directory ? 0755 : 0644;
    };
    const CapturedPath none;
    const CapturedPath& entry = place.entry == nullptr ? none : *place.entry;
    FileStatus status;
    status.type = place.type;
    status.mode = entry.mode.value_or(default_mode(place.type));
    status.uid = entry.uid.value_or(0);
    status.gid = entry.gid.value_or(0);
    status.device_major = entry.device_major.value_or(0);
    status.device_minor = entry.device_minor.value_or(0);
    status.size = entry.size.value_or(place.type == FileType::symlink ? entry.target.size()
                                      : entry.contents                ? entry.contents->size()
                                                                      : 0);
    status.inode = entry.inode.value_or(0);
    return status;
  }

  /// The kernel's rule (inode_permission): root passes; the owner has the owner's bits and no others, a member of the
  /// group has the group's bits and no others.
  [[nodiscard]] bool may_read_and_write(const FileStatus& status) const {
    const ProcessIdentity& process = capture_.process;
    if (process.effective_uid == 0) return true;
    const bool member = status.gid == process.gid ||
                        std::find(process.groups.begin(), process.groups.end(), status.gid) != process.groups.end();
    const std::uint32_t shift = status.uid == process.effective_uid ? 6 : member ? 3 : 0;
    return ((status.mode >> shift) & 06) == 06;
  }

  /// What the capture does not say of a symbol or text is "no".
  [[nodiscard]] static std::map<std::string, bool> answers(const std::vector<std::string>& asked,
                                                           const std::map<std::string, bool>& recorded) {
    std::map<std::string, bool> given;
    for (const std::string& name : asked) {
      const auto answer = recorded.find(name);
      given[name] = answer != recorded.end() && answer->second;
    }
    return given;
  }

  Capture capture_;
  std::map<std::string, std::set<std::string>> folders_;  ///< every folder, implied ones included, and its names
};

}  // namespace

std::unique_ptr<Host> make_captured_host(Capture capture) {
  return std::make_unique<CapturedHost>(std::move(capture));
}

}  // namespace sage
