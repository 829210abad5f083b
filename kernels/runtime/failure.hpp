// How the inside of the runtime reports an error: status and text in a fixed buffer, because a launch must not
// allocate, not even to fail.
#pragma once

#include <cstdarg>
#include <cstdint>

#include "sage/attention.h"

namespace sage::runtime {

struct [[nodiscard]] Failure {
  sage_status status = SAGE_OK;
  std::int32_t driver_code = 0;
  char text[sizeof(sage_error::text)] = {};

  explicit operator bool() const { return status != SAGE_OK; }
};

[[nodiscard]] __attribute__((format(printf, 2, 3))) Failure fail(sage_status status, const char* format, ...);
[[nodiscard]] inline Failure success() {
  return {};
}

// Copies into the caller's structure, if there is one, and gives the status back.
sage_status report(const Failure& failure, sage_error* error);

}  // namespace sage::runtime
