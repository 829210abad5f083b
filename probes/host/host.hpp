#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/errno_name.hpp"
#include "probes/base/result.hpp"

namespace sage {

enum class FileType { regular, directory, symlink, character_device, block_device, other };

template <>
inline constexpr auto enum_names<FileType> = std::to_array<EnumName<FileType>>({
    {FileType::regular, "file"},
    {FileType::directory, "directory"},
    {FileType::symlink, "symlink"},
    {FileType::character_device, "character-device"},
    {FileType::block_device, "block-device"},
    {FileType::other, "other"},
});

struct FileStatus {
  FileType type = FileType::regular;
  std::uint32_t mode = 0;  ///< permission bits only
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t device_major = 0;  ///< of a device node
  std::uint32_t device_minor = 0;
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
};

enum class Links { follow, keep };

/// The process as the kernel sees it.
struct ProcessIdentity {
  std::uint32_t uid = 0;  ///< real
  std::uint32_t effective_uid = 0;
  std::uint32_t gid = 0;  ///< effective
  std::vector<std::uint32_t> groups;  ///< supplementary
  std::string user;        ///< name of the real user by the user database; the number when it has none
  std::string host_name;
  std::string home;        ///< HOME, or the user database's folder; empty when neither says
  std::string working_folder;
  std::uint32_t usable_cpus = 1;  ///< by affinity
};

/// One line of /proc/self/mountinfo.
struct Mount {
  std::string point;
  std::string filesystem;  ///< "ext4", "9p", "nfs4" ...
};

/// One entry of /etc/ld.so.cache.
struct LoaderCacheEntry {
  std::string soname;
  std::string path;
};

struct LibcInfo {
  std::string name;  ///< "glibc" or "musl"
  std::string version;
};

/// What to ask of an ELF file beyond its headers.
struct ElfQuery {
  std::vector<std::string> symbols;  ///< which of these does .dynsym define?
  std::vector<std::string> strings;  ///< which of these texts stand in the read-only data?
  bool versions = false;             ///< version needs and definitions
  bool device_code = false;          ///< code objects for GPUs in .hip_fatbin
};

/// Symbol versions that an ELF file wants of one library: {"libstdc++.so.6", {"GLIBCXX_3.4.30"}}.
struct ElfVersionNeed {
  std::string library;
  std::vector<std::string> versions;

  friend bool operator==(const ElfVersionNeed&, const ElfVersionNeed&) = default;
};

/// The .hip_fatbin section of a host library (facts/wheels.md 2.12).
struct ElfDeviceCode {
  bool in_file = true;               ///< false: the section is NOBITS, the code lies in .kpack files elsewhere
  bool compressed = false;           ///< some bundle is CCOB: the runtime needs a comgr that can read it
  bool complete = true;              ///< false: there was more than is ever read; `targets` is a part
  std::vector<std::string> targets;  ///< "gfx90a:xnack-", "amdgcnspirv", sorted, each once

  friend bool operator==(const ElfDeviceCode&, const ElfDeviceCode&) = default;
};

/// What an ELF file says of itself; rpath and runpath apart, unexpanded, split at colons.
struct ElfFacts {
  std::uint32_t bits = 64;
  std::string machine;  ///< "x86_64", "aarch64", or the e_machine number
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> rpath;
  std::vector<std::string> runpath;
  std::string build_id;                      ///< hex
  std::map<std::string, bool> symbols;       ///< answer to each asked symbol
  std::map<std::string, bool> strings;       ///< answer to each asked string
  std::vector<ElfVersionNeed> version_needs;     ///< only when versions were asked; sorted by library
  std::vector<std::string> version_definitions;  ///< only when versions were asked
  std::optional<ElfDeviceCode> device_code;      ///< only when asked and there is such a section
};

struct ProgramOutput {
  int exit_status = 0;  ///< 0-255; meaningful when signal is 0
  int signal = 0;
  bool timed_out = false;
  std::string output;  ///< stdout, capped
  std::string errors;  ///< stderr, capped
};

/// An adapter as the ioctls of /dev/dxg answer (facts/wsl.md W8a). A field that the adapter did not answer is empty.
struct DxgAdapterReply {
  std::optional<std::uint32_t> vendor_id;
  std::optional<std::uint32_t> device_id;
  std::optional<std::uint32_t> revision;
  std::optional<std::string> name;
  std::optional<std::uint64_t> dedicated_bytes;
  std::optional<std::uint64_t> shared_bytes;
  std::optional<std::string> driver_version;
  std::optional<std::uint32_t> wddm_version;
  std::optional<std::uint32_t> type_bits;  ///< adapter type: bit 0 render, 2 software, 4 hybrid discrete, 5 hybrid integrated
};

/// What libdrm_amdgpu says of one render node.
struct DrmDeviceReply {
  std::string render_node;      ///< "/dev/dri/renderD128"
  std::string pci_address;      ///< "0000:03:00.0"
  std::string marketing_name;   ///< empty when libdrm's table does not know the chip
  std::uint64_t vram_bytes = 0;
};

/// The only door to the machine. Probes get nothing from anywhere else, so that a capture can stand in for it.
/// Every call is read-only and comes back: remote filesystems, devices and foreign libraries are touched in a child
/// process with a deadline. Errors carry the errno and name the path.
class Host {
 public:
  /// More than any file in /proc, /sys or /etc that a probe wants.
  static constexpr std::size_t default_read_cap = 256 * 1024;

  virtual ~Host() = default;

  /// The whole file, at most `cap` bytes; a longer one is EFBIG. Not a regular file, folder included: an Error.
  [[nodiscard]] virtual Result<std::string> read_file(const std::string& path,
                                                      std::size_t cap = default_read_cap) const = 0;
  /// The last `count` bytes of a regular file (all of it when shorter).
  [[nodiscard]] virtual Result<std::string> read_file_end(const std::string& path, std::size_t count) const = 0;
  /// Names in a folder without "." and "..", sorted; more than 100,000 is an Error.
  [[nodiscard]] virtual Result<std::vector<std::string>> list_folder(const std::string& path) const = 0;
  [[nodiscard]] virtual Result<FileStatus> status(const std::string& path, Links links = Links::follow) const = 0;
  /// The text of a symbolic link, not resolved.
  [[nodiscard]] virtual Result<std::string> read_link(const std::string& path) const = 0;
  /// The canonical path (symbolic links resolved).
  [[nodiscard]] virtual Result<std::string> canonical(const std::string& path) const = 0;
  /// faccessat(2) for reading and writing by effective ids.
  [[nodiscard]] virtual Errno access_device(const std::string& path) const = 0;
  /// open(2) for reading and writing, closed at once.
  [[nodiscard]] virtual Errno open_device(const std::string& path) const = 0;
  /// Total bytes of the filesystem that holds `path`.
  [[nodiscard]] virtual Result<std::uint64_t> filesystem_size(const std::string& path) const = 0;

  /// Allow-listed variables that are set (see environment_allowed()).
  [[nodiscard]] virtual std::map<std::string, std::string> environment() const = 0;
  [[nodiscard]] virtual ProcessIdentity process() const = 0;
  /// Seconds since 1970-01-01 UTC.
  [[nodiscard]] virtual std::int64_t now() const = 0;
  [[nodiscard]] virtual Result<std::vector<Mount>> mounts() const = 0;
  [[nodiscard]] virtual Result<LibcInfo> libc() const = 0;
  [[nodiscard]] virtual Result<std::vector<LoaderCacheEntry>> loader_cache() const = 0;
  [[nodiscard]] virtual Result<ElfFacts> elf(const std::string& path, const ElfQuery& query) const = 0;
  /// Kernel log messages, oldest first, without priority and time stamp.
  [[nodiscard]] virtual Result<std::vector<std::string>> kernel_log() const = 0;
  /// Adapters behind /dev/dxg, software ones included.
  [[nodiscard]] virtual Result<std::vector<DxgAdapterReply>> dxg_adapters() const = 0;
  /// What libdrm says of these render nodes. The caller has made sure that their GPUs are awake.
  [[nodiscard]] virtual Result<std::vector<DrmDeviceReply>> drm_devices(
      const std::vector<std::string>& render_nodes) const = 0;
  /// Runs a program without a shell, stdin closed, in its own process group, killed at the deadline.
  [[nodiscard]] virtual Result<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                                          std::chrono::milliseconds deadline) const = 0;
};

/// True for the variables that may be read and recorded: those that steer ROCm, HIP, PyTorch, the loader, WSL and the
/// shell's start-up. Everything else in the environment (tokens, keys) is never looked at.
[[nodiscard]] bool environment_allowed(std::string_view name);

/// The allow-listed names, without the per-node overrides that are matched by prefix.
[[nodiscard]] const std::vector<std::string>& allowed_environment_names();

}  // namespace sage
