#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/host/host.hpp"

namespace sage {

/// An answer that a capture may hold: nullopt is "not described", which replays as ENOENT. An Error with an empty text
/// stands for the usual text of its errno, so that hand-written captures need only the errno's name.
template <class T>
using Captured = std::optional<Result<T>>;

/// What a capture says about one path, field by field; what it does not say follows from the rest (see
/// docs/capture-format.md).
struct CapturedPath {
  FileType type = FileType::regular;
  std::optional<std::string> contents;
  bool only_end = false;           ///< `contents` is the last part of a longer file
  std::string target;              ///< of a symlink, as written in the link
  std::vector<std::string> names;  ///< in a folder, beside those that follow from other entries
  std::optional<std::uint32_t> mode;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::optional<std::uint32_t> device_major;
  std::optional<std::uint32_t> device_minor;
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> inode;
  std::optional<Errno> access;
  std::optional<Errno> open;
  std::optional<Error> status_error;
  std::optional<Error> read_error;
  std::optional<Error> list_error;

  friend bool operator==(const CapturedPath&, const CapturedPath&) = default;
};

struct CapturedProgram {
  std::vector<std::string> arguments;
  Result<ProgramOutput> result = ProgramOutput{};
};

/// The stand-in's identity where a capture does not say: an ordinary user without further groups.
[[nodiscard]] ProcessIdentity default_process();

/// A machine as its probes saw it: all that a Host can be asked, with the answers.
struct Capture {
  std::string description;
  ProcessIdentity process = default_process();
  std::int64_t now = 0;  ///< seconds since 1970 UTC
  std::map<std::string, std::string> environment;
  std::map<std::string, CapturedPath> paths;    ///< by absolute path; folders above them are implied
  std::map<std::string, Result<ElfFacts>> elf;  ///< by absolute path, which exists then as a regular file
  std::map<std::string, Result<std::uint64_t>> filesystem_sizes;
  Captured<std::vector<Mount>> mounts;
  Captured<LibcInfo> libc;
  Captured<std::vector<LoaderCacheEntry>> loader_cache;
  Captured<std::vector<std::string>> kernel_log;
  Captured<std::vector<DxgAdapterReply>> dxg_adapters;
  Captured<std::vector<DrmDeviceReply>> drm_devices;
  std::vector<CapturedProgram> programs;
};

/// What a replayed error names when it is about no path that was asked for.
namespace error_subject {
inline constexpr const char* mounts = "/proc/self/mountinfo";
inline constexpr const char* libc = "C library";
inline constexpr const char* loader_cache = "/etc/ld.so.cache";
inline constexpr const char* kernel_log = "kernel log";
inline constexpr const char* dxg_adapters = "/dev/dxg";
inline constexpr const char* drm_devices = "libdrm_amdgpu";
}  // namespace error_subject

/// Why a capture that reads well can't be a file tree: an entry below a symlink or a file, or an ELF entry at a folder;
/// nullopt when it can.
[[nodiscard]] std::optional<Error> tree_problem(const Capture& capture);

/// The error itself, or the usual text of its errno for `subject` when it has none.
[[nodiscard]] Error with_usual_text(const Error& error, const std::string& subject);

/// The inverse: without its text when that is the usual one.
[[nodiscard]] Error without_usual_text(const Error& error, const std::string& subject);

/// The folder of an absolute path: "/dev/kfd" gives "/dev", "/dev" gives "/", "/" gives "".
[[nodiscard]] std::string parent_path(const std::string& path);

/// Absolute, without empty, "." or ".." parts and without a slash at the end (except "/" itself), at most 4096 bytes.
[[nodiscard]] bool is_plain_absolute_path(std::string_view path);

}  // namespace sage
