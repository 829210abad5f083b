// A capture is a file system, so what is noted about a path has to stand where the path leads: the answer for
// /sys/class/drm/card0/device/vendor belongs to /sys/devices/pci.../vendor, and the links on the way have to be noted
// too. The recorder therefore walks every path itself, by asking the inner host about each part, before it notes the
// answer at the end of the walk.
//
// Below /proc/self nothing is walked: the links there (self itself, exe, cwd, ns/*) are made up by the kernel anew for
// each process, and a replay is another process.

#include "probes/host/recording_host.hpp"

#include <algorithm>
#include <cerrno>

namespace sage {
namespace {

constexpr std::string_view own_process = "/proc/self";

bool is_own_process(std::string_view path) {
  return path == own_process || (path.starts_with(own_process) && path[own_process.size()] == '/');
}

template <class T>
Result<T> noted(const Result<T>& answer, const std::string& subject) {
  if (!answer.ok()) return without_usual_text(answer.error(), subject);
  return answer;
}

/// Notes a failed call, unless a replay finds that the path does not exist and says the same by itself.
void note_error(std::optional<Error>& place, const Error& error, const std::string& asked) {
  if (error.number != ENOENT) place = without_usual_text(error, asked);
}

}  // namespace

RecordingHost::RecordingHost(const Host& inner) : inner_(inner) {
  capture_.process = inner.process();
}

Result<PathLook> RecordingHost::look(const std::string& path) const {
  const auto known = looks_.find(path);
  if (known != looks_.end()) return known->second;

  const Result<FileStatus> status = inner_.status(path, is_own_process(path) ? Links::follow : Links::keep);
  Result<PathLook> seen = PathLook{};
  if (!status) {
    seen = without_usual_text(status.error(), path);
    if (status.error().number != ENOENT) capture_.paths[path].status_error = seen.error();
  } else {
    seen->type = status->type;
    if (status->type == FileType::symlink) seen->target = inner_.read_link(path).value_or({});
    if (status->type != FileType::directory) {
      capture_.paths[path].type = seen->type;
      capture_.paths[path].target = seen->target;
    }
  }
  looks_.insert_or_assign(path, seen);
  return seen;
}

Result<std::string> RecordingHost::walk(const std::string& path, Links links) const {
  return walk_path(path, capture_.process.working_folder, links,
                   [this](const std::string& part) { return look(part); });
}

CapturedPath* RecordingHost::entry_for(const std::string& path, Links links) const {
  const Result<std::string> place = walk(path, links);
  if (!place) return nullptr;
  CapturedPath& entry = capture_.paths[*place];
  const Result<PathLook> seen = *place == "/" ? PathLook{FileType::directory, {}} : look(*place);
  if (seen.ok()) entry.type = seen->type;
  return &entry;
}

Result<std::string> RecordingHost::read_file(const std::string& path, std::size_t cap) const {
  Result<std::string> answer = inner_.read_file(path, cap);
  CapturedPath* const entry = entry_for(path, Links::follow);
  if (entry == nullptr) return answer;
  if (answer.ok()) {
    entry->contents = *answer;
    entry->only_end = false;
    entry->read_error.reset();
  } else if (!entry->contents || entry->only_end) {
    note_error(entry->read_error, answer.error(), path);
  }
  return answer;
}

Result<std::string> RecordingHost::read_file_end(const std::string& path, std::size_t count) const {
  Result<std::string> answer = inner_.read_file_end(path, count);
  CapturedPath* const entry = entry_for(path, Links::follow);
  if (entry == nullptr) return answer;
  const bool whole_known = entry->contents && !entry->only_end;
  if (!answer.ok()) {
    if (!entry->contents) note_error(entry->read_error, answer.error(), path);
  } else if (!whole_known && (!entry->contents || entry->contents->size() < answer->size())) {
    entry->contents = *answer;
    entry->only_end = answer->size() == count;
  }
  return answer;
}

Result<std::vector<std::string>> RecordingHost::list_folder(const std::string& path) const {
  Result<std::vector<std::string>> answer = inner_.list_folder(path);
  CapturedPath* const entry = entry_for(path, Links::follow);
  if (entry == nullptr) return answer;
  if (answer.ok()) {
    entry->names = *answer;
  } else {
    note_error(entry->list_error, answer.error(), path);
  }
  return answer;
}

Result<FileStatus> RecordingHost::status(const std::string& path, Links links) const {
  Result<FileStatus> answer = inner_.status(path, links);
  CapturedPath* const entry = entry_for(path, links);
  if (entry == nullptr) return answer;
  if (!answer.ok()) {
    note_error(entry->status_error, answer.error(), path);
    return answer;
  }
  entry->mode = answer->mode;
  entry->uid = answer->uid;
  entry->gid = answer->gid;
  if (answer->type == FileType::character_device || answer->type == FileType::block_device) {
    entry->device_major = answer->device_major;
    entry->device_minor = answer->device_minor;
  }
  entry->size = answer->size;
  entry->inode = answer->inode;
  return answer;
}

Result<std::string> RecordingHost::read_link(const std::string& path) const {
  Result<std::string> answer = inner_.read_link(path);
  CapturedPath* const entry = entry_for(path, Links::keep);
  if (entry != nullptr && answer.ok()) {
    entry->type = FileType::symlink;
    entry->target = *answer;
  }
  return answer;
}

Result<std::string> RecordingHost::canonical(const std::string& path) const {
  (void)entry_for(path, Links::follow);
  return inner_.canonical(path);
}

Errno RecordingHost::access_device(const std::string& path) const {
  const Errno answer = inner_.access_device(path);
  if (CapturedPath* const entry = entry_for(path, Links::follow)) entry->access = answer;
  return answer;
}

Errno RecordingHost::open_device(const std::string& path) const {
  const Errno answer = inner_.open_device(path);
  if (CapturedPath* const entry = entry_for(path, Links::follow)) entry->open = answer;
  return answer;
}

Result<std::uint64_t> RecordingHost::filesystem_size(const std::string& path) const {
  Result<std::uint64_t> answer = inner_.filesystem_size(path);
  capture_.filesystem_sizes.insert_or_assign(path, noted(answer, path));
  return answer;
}

std::map<std::string, std::string> RecordingHost::environment() const {
  capture_.environment = inner_.environment();
  return capture_.environment;
}

ProcessIdentity RecordingHost::process() const {
  return capture_.process;
}

std::int64_t RecordingHost::now() const {
  capture_.now = inner_.now();
  return capture_.now;
}

Result<std::vector<Mount>> RecordingHost::mounts() const {
  Result<std::vector<Mount>> answer = inner_.mounts();
  capture_.mounts = noted(answer, error_subject::mounts);
  return answer;
}

Result<LibcInfo> RecordingHost::libc() const {
  Result<LibcInfo> answer = inner_.libc();
  capture_.libc = noted(answer, error_subject::libc);
  return answer;
}

Result<std::vector<LoaderCacheEntry>> RecordingHost::loader_cache() const {
  Result<std::vector<LoaderCacheEntry>> answer = inner_.loader_cache();
  capture_.loader_cache = noted(answer, error_subject::loader_cache);
  return answer;
}

Result<ElfFacts> RecordingHost::elf(const std::string& path, const ElfQuery& query) const {
  Result<ElfFacts> answer = inner_.elf(path, query);
  CapturedPath* const entry = entry_for(path, Links::follow);
  if (entry == nullptr) return answer;
  const std::string place = *walk(path, Links::follow);
  if (entry->type != FileType::regular) {
    if (!answer.ok() && !entry->read_error) note_error(entry->read_error, answer.error(), path);
    return answer;
  }
  Result<ElfFacts> to_note = noted(answer, path);
  const auto earlier = capture_.elf.find(place);
  if (to_note.ok() && earlier != capture_.elf.end() && earlier->second.ok()) {
    to_note->symbols.insert(earlier->second->symbols.begin(), earlier->second->symbols.end());
    to_note->strings.insert(earlier->second->strings.begin(), earlier->second->strings.end());
    if (!query.versions) {
      to_note->version_needs = earlier->second->version_needs;
      to_note->version_definitions = earlier->second->version_definitions;
    }
    if (!query.device_code) to_note->device_code = earlier->second->device_code;
  }
  capture_.elf.insert_or_assign(place, std::move(to_note));
  return answer;
}

Result<std::vector<std::string>> RecordingHost::kernel_log() const {
  Result<std::vector<std::string>> answer = inner_.kernel_log();
  capture_.kernel_log = noted(answer, error_subject::kernel_log);
  return answer;
}

Result<std::vector<DxgAdapterReply>> RecordingHost::dxg_adapters() const {
  Result<std::vector<DxgAdapterReply>> answer = inner_.dxg_adapters();
  capture_.dxg_adapters = noted(answer, error_subject::dxg_adapters);
  return answer;
}

Result<std::vector<DrmDeviceReply>> RecordingHost::drm_devices(const std::vector<std::string>& render_nodes) const {
  Result<std::vector<DrmDeviceReply>> answer = inner_.drm_devices(render_nodes);
  auto& recorded = capture_.drm_devices;
  if (!recorded || !recorded->ok() || !answer.ok()) {
    if (!recorded || answer.ok()) recorded = noted(answer, error_subject::drm_devices);
    return answer;
  }
  for (const DrmDeviceReply& device : *answer) {
    const auto same = [&](const DrmDeviceReply& other) { return other.render_node == device.render_node; };
    if (std::none_of((*recorded)->begin(), (*recorded)->end(), same)) (*recorded)->push_back(device);
  }
  return answer;
}

Result<ProgramOutput> RecordingHost::run_program(const std::vector<std::string>& arguments,
                                                 std::chrono::milliseconds deadline) const {
  Result<ProgramOutput> answer = inner_.run_program(arguments, deadline);
  const auto same = [&](const CapturedProgram& other) { return other.arguments == arguments; };
  std::erase_if(capture_.programs, same);
  capture_.programs.push_back({arguments, noted(answer, arguments.empty() ? "program" : arguments.front())});
  return answer;
}

}  // namespace sage
