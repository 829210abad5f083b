#pragma once

#include <string>
#include <string_view>

#include "probes/base/result.hpp"

namespace sage {

/// Outcome of a system call: 0 or an errno. Written as "ok" or by its symbolic name ("EACCES") wherever people or
/// other machines read it, since the numbers differ between architectures.
struct Errno {
  int value = 0;

  [[nodiscard]] bool ok() const { return value == 0; }
  friend bool operator==(const Errno&, const Errno&) = default;
};

/// "ok", "EACCES", ..., or "errno 123" for a number this table does not know.
[[nodiscard]] std::string errno_name(Errno error);

/// The inverse of errno_name(). Error when the name is unknown.
[[nodiscard]] Result<Errno> errno_from_name(std::string_view name);

/// "Permission denied" and the like, independent of the locale.
[[nodiscard]] std::string errno_text(Errno error);

/// An Error that carries `number` and reads "<what>: <errno text>".
[[nodiscard]] Error system_error(int number, std::string_view what);

}  // namespace sage
