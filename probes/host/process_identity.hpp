#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "probes/host/host.hpp"

namespace sage {

/// A line of /etc/passwd, as far as it is of interest.
struct UserEntry {
  std::string name;
  std::string home;
};

/// The first well-formed entry of this user in the text of /etc/passwd.
[[nodiscard]] std::optional<UserEntry> find_user(std::string_view passwd, std::uint32_t uid);

/// This process. `passwd` is the text of /etc/passwd, empty when it can't be read.
[[nodiscard]] ProcessIdentity identify_process(std::string_view passwd);

/// The C library that this process runs on. musl does not tell its version to programs: it stays empty.
[[nodiscard]] Result<LibcInfo> running_libc();

}  // namespace sage
