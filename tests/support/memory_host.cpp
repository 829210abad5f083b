#include "tests/support/memory_host.hpp"

#include <cerrno>
#include <set>

namespace sage {

MemoryHost& MemoryHost::file(const std::string& path, std::string text) {
  Entry entry;
  entry.status.type = FileType::regular;
  entry.status.mode = 0644;
  entry.status.size = text.size();
  entry.text = std::move(text);
  entries[path] = std::move(entry);
  return *this;
}

MemoryHost& MemoryHost::folder(const std::string& path) {
  entries[path].status.type = FileType::directory;
  entries[path].status.mode = 0755;
  return *this;
}

MemoryHost& MemoryHost::link(const std::string& path, std::string target) {
  entries[path].status.type = FileType::symlink;
  entries[path].target = std::move(target);
  return *this;
}

MemoryHost& MemoryHost::device(const std::string& path, std::uint32_t mode, std::uint32_t uid, std::uint32_t gid,
                               Errno access, Errno open) {
  Entry entry;
  entry.status.type = FileType::character_device;
  entry.status.mode = mode;
  entry.status.uid = uid;
  entry.status.gid = gid;
  entry.access = access;
  entry.open = open;
  entries[path] = entry;
  return *this;
}

MemoryHost& MemoryHost::failing(const std::string& path, int error) {
  entries[path].error = error;
  return *this;
}

MemoryHost& MemoryHost::unreadable(const std::string& path, int error) {
  entries[path].read_error = error;
  return *this;
}

Result<std::string> MemoryHost::resolve(const std::string& path, Links links) const {
  std::string rest = path;
  for (int followed = 0; followed <= 40; ++followed) {
    bool changed = false;
    for (std::size_t end = rest.find('/', 1);; end = rest.find('/', end + 1)) {
      const std::string prefix = rest.substr(0, end);
      const bool last = end == std::string::npos;
      const auto entry = entries.find(prefix);
      if (entry != entries.end() && entry->second.status.type == FileType::symlink &&
          (!last || links == Links::follow)) {
        const std::string& target = entry->second.target;
        std::string base = target.starts_with('/') ? "" : prefix.substr(0, prefix.rfind('/'));
        std::string_view relative = target;
        while (relative.starts_with("../")) {
          relative.remove_prefix(3);
          base.erase(base.rfind('/'));
        }
        rest = (base.empty() && target.starts_with('/') ? target : base + "/" + std::string(relative)) +
               (last ? "" : rest.substr(end));
        changed = true;
        break;
      }
      if (last) break;
    }
    if (!changed) return rest;
  }
  return system_error(ELOOP, path);
}

Result<MemoryHost::Entry> MemoryHost::find(const std::string& path, Links links) const {
  const Result<std::string> resolved = resolve(path, links);
  if (!resolved) return resolved.error();
  const auto entry = entries.find(*resolved);
  if (entry != entries.end()) {
    if (entry->second.error != 0) return system_error(entry->second.error, path);
    return entry->second;
  }
  const std::string below = *resolved == "/" ? "/" : *resolved + "/";
  const auto child = entries.lower_bound(below);
  if (child == entries.end() || !child->first.starts_with(below)) return system_error(ENOENT, path);
  Entry implied;
  implied.status.type = FileType::directory;
  implied.status.mode = 0755;
  return implied;
}

Result<std::string> MemoryHost::read_file(const std::string& path, std::size_t cap) const {
  read.push_back(path);
  const Result<Entry> entry = find(path, Links::follow);
  if (!entry) return entry.error();
  if (entry->read_error != 0) return system_error(entry->read_error, path);
  if (entry->status.type == FileType::directory) return system_error(EISDIR, path);
  if (entry->status.type != FileType::regular) return system_error(EINVAL, path);
  if (entry->text.size() > cap) return system_error(EFBIG, path);
  return entry->text;
}

Result<std::string> MemoryHost::read_file_end(const std::string& path, std::size_t count) const {
  Result<std::string> text = read_file(path, static_cast<std::size_t>(-1));
  if (!text || text->size() <= count) return text;
  return text->substr(text->size() - count);
}

Result<std::vector<std::string>> MemoryHost::list_folder(const std::string& path) const {
  listed.push_back(path);
  const Result<Entry> entry = find(path, Links::follow);
  if (!entry) return entry.error();
  if (entry->read_error != 0) return system_error(entry->read_error, path);
  if (entry->status.type != FileType::directory) return system_error(ENOTDIR, path);
  const std::string below = *resolve(path, Links::follow) + "/";
  std::set<std::string> names;
  for (auto child = entries.lower_bound(below); child != entries.end() && child->first.starts_with(below); ++child) {
    const std::string name = child->first.substr(below.size());
    names.insert(name.substr(0, name.find('/')));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<FileStatus> MemoryHost::status(const std::string& path, Links links) const {
  const Result<Entry> entry = find(path, links);
  if (!entry) return entry.error();
  return entry->status;
}

Result<std::string> MemoryHost::read_link(const std::string& path) const {
  const Result<Entry> entry = find(path, Links::keep);
  if (!entry) return entry.error();
  if (entry->status.type != FileType::symlink) return system_error(EINVAL, path);
  return entry->target;
}

Result<std::string> MemoryHost::canonical(const std::string& path) const {
  const Result<Entry> entry = find(path, Links::follow);
  if (!entry) return entry.error();
  return resolve(path, Links::follow);
}

Errno MemoryHost::access_device(const std::string& path) const {
  const Result<Entry> entry = find(path, Links::follow);
  return entry ? entry->access : Errno{entry.error().number};
}

Errno MemoryHost::open_device(const std::string& path) const {
  opened.push_back(path);
  const Result<Entry> entry = find(path, Links::follow);
  return entry ? entry->open : Errno{entry.error().number};
}

Result<std::uint64_t> MemoryHost::filesystem_size(const std::string& path) const {
  const auto size = filesystem_sizes.find(path);
  if (size == filesystem_sizes.end()) return system_error(ENOENT, path);
  return size->second;
}

Result<ElfFacts> MemoryHost::elf(const std::string& path, const ElfQuery&) const {
  const auto facts = elf_files.find(path);
  if (facts == elf_files.end()) return system_error(ENOENT, path);
  return facts->second;
}

Result<std::vector<DxgAdapterReply>> MemoryHost::dxg_adapters() const {
  return system_error(ENOENT, "/dev/dxg");
}

Result<std::vector<DrmDeviceReply>> MemoryHost::drm_devices(const std::vector<std::string>&) const {
  return system_error(ENOENT, "libdrm_amdgpu.so.1");
}

Result<ProgramOutput> MemoryHost::run_program(const std::vector<std::string>& arguments,
                                              std::chrono::milliseconds) const {
  return system_error(ENOENT, arguments.empty() ? std::string() : arguments.front());
}

}  // namespace sage
