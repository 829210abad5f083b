#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/host/host.hpp"

namespace sage {

/// A machine made of a few lines of test code. What was not put into it does not exist (ENOENT); folders above a
/// described path exist by themselves. Permissions are not modelled: a device answers what the test says.
class MemoryHost : public Host {
 public:
  struct Entry {
    FileStatus status;
    std::string text;    ///< of a regular file
    std::string target;  ///< of a symbolic link
    int error = 0;       ///< every call on the path fails with it, status included
    int read_error = 0;  ///< reading, listing and asking for the ELF facts fail with it
    Errno access;
    Errno open;
  };

  MemoryHost& file(const std::string& path, std::string text);
  MemoryHost& folder(const std::string& path);
  MemoryHost& link(const std::string& path, std::string target);
  MemoryHost& device(const std::string& path, std::uint32_t mode, std::uint32_t uid, std::uint32_t gid,
                     Errno access = {}, Errno open = {});
  /// Every call on `path` fails with `error`.
  MemoryHost& failing(const std::string& path, int error);
  /// `path` is there and can't be read or listed.
  MemoryHost& unreadable(const std::string& path, int error);

  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> variables;
  std::map<std::string, std::uint64_t> filesystem_sizes;
  ProcessIdentity identity;
  std::int64_t clock = 0;
  Result<LibcInfo> libc_info = LibcInfo{"glibc", "2.36"};
  Result<std::vector<Mount>> mount_table = std::vector<Mount>{};
  Result<std::vector<LoaderCacheEntry>> cache = std::vector<LoaderCacheEntry>{};
  Result<std::vector<std::string>> messages = std::vector<std::string>{};
  std::map<std::string, ElfFacts> elf_files;

  mutable std::vector<std::string> opened;  ///< device paths given to open_device(), in order
  mutable std::vector<std::string> read;    ///< paths given to read_file() and read_file_end(), in order
  mutable std::vector<std::string> listed;  ///< paths given to list_folder(), in order

  [[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t cap) const override;
  [[nodiscard]] Result<std::string> read_file_end(const std::string& path, std::size_t count) const override;
  [[nodiscard]] Result<std::vector<std::string>> list_folder(const std::string& path) const override;
  [[nodiscard]] Result<FileStatus> status(const std::string& path, Links links) const override;
  [[nodiscard]] Result<std::string> read_link(const std::string& path) const override;
  [[nodiscard]] Result<std::string> canonical(const std::string& path) const override;
  [[nodiscard]] Errno access_device(const std::string& path) const override;
  [[nodiscard]] Errno open_device(const std::string& path) const override;
  [[nodiscard]] Result<std::uint64_t> filesystem_size(const std::string& path) const override;
  [[nodiscard]] std::map<std::string, std::string> environment() const override { return variables; }
  [[nodiscard]] ProcessIdentity process() const override { return identity; }
  [[nodiscard]] std::int64_t now() const override { return clock; }
  [[nodiscard]] Result<std::vector<Mount>> mounts() const override { return mount_table; }
  [[nodiscard]] Result<LibcInfo> libc() const override { return libc_info; }
  [[nodiscard]] Result<std::vector<LoaderCacheEntry>> loader_cache() const override { return cache; }
  [[nodiscard]] Result<ElfFacts> elf(const std::string& path, const ElfQuery& query) const override;
  [[nodiscard]] Result<std::vector<std::string>> kernel_log() const override { return messages; }
  [[nodiscard]] Result<std::vector<DxgAdapterReply>> dxg_adapters() const override;
  [[nodiscard]] Result<std::vector<DrmDeviceReply>> drm_devices(
      const std::vector<std::string>& render_nodes) const override;
  [[nodiscard]] Result<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                                  std::chrono::milliseconds deadline) const override;

 private:
  /// The entry that `path` leads to, links followed; a folder that only follows from other entries is made up.
  [[nodiscard]] Result<Entry> find(const std::string& path, Links links) const;
  /// `path` with the links of its folders, and of itself under Links::follow, resolved.
  [[nodiscard]] Result<std::string> resolve(const std::string& path, Links links) const;
};

}  // namespace sage
