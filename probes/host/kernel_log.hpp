#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "probes/base/result.hpp"

namespace sage {

/// read(2) on /dev/kmsg: a record's size, or -1 and errno.
using ReadRecord = std::function<ssize_t(char* buffer, std::size_t size)>;

/// The messages of all records, oldest first, without their prefix "priority,sequence,time,flags;" and without the
/// key=value lines that follow (Documentation/ABI/testing/dev-kmsg). At most 20,000 records or 8 MiB: the oldest stay.
[[nodiscard]] Result<std::vector<std::string>> read_kernel_records(const ReadRecord& read_record);

/// The kernel log of this machine. EPERM where kernel.dmesg_restrict hides it, ENOENT in most containers.
[[nodiscard]] Result<std::vector<std::string>> read_kernel_log();

}  // namespace sage
