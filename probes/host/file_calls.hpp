#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/host/host.hpp"

// The file calls of the live machine, as they run in this process or in a child. They follow links only when `links`
// says so; their Errors carry the errno and the reason, and the caller puts the path in front.

namespace sage::file_calls {

/// A regular file, opened for reading without side effects on anything else (no FIFO blocks, no device is opened).
[[nodiscard]] Result<Descriptor> open_regular(const std::string& path, Links links);

/// Until the end of the file, since /proc and /sys do not tell sizes; more than `cap` bytes is EFBIG.
[[nodiscard]] Result<std::string> read_whole(const std::string& path, Links links, std::size_t cap);
[[nodiscard]] Result<std::string> read_end(const std::string& path, Links links, std::size_t count);
/// Sorted names without "." and ".."; more than `most` is EFBIG.
[[nodiscard]] Result<std::vector<std::string>> list(const std::string& path, Links links, std::size_t most);
[[nodiscard]] Result<FileStatus> status(const std::string& path, Links links);
[[nodiscard]] Result<std::string> link_text(const std::string& path);
/// Symbolic links resolved by libc.
[[nodiscard]] Result<std::string> resolve(const std::string& path);
[[nodiscard]] Result<std::uint64_t> filesystem_bytes(const std::string& path);

/// pread(2) until `count` bytes came or the file ended, whatever interrupts.
[[nodiscard]] Result<std::string> read_at(int file, std::uint64_t offset, std::size_t count);

/// write(2) until all of it is out, whatever interrupts; false with errno when it can't be.
[[nodiscard]] bool write_all(int file, std::string_view bytes);

}  // namespace sage::file_calls
