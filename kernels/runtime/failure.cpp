#include "failure.hpp"

#include <cstdio>
#include <cstring>

namespace sage::runtime {

Failure fail(sage_status status, const char* format, ...) {
  Failure failure;
  failure.status = status;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(failure.text, sizeof failure.text, format, arguments);
  va_end(arguments);
  // Parts of the text come from files and drivers.
  for (char& c : failure.text) {
    if (c != '\0' && (c < ' ' || c > '~')) c = '?';
  }
  return failure;
}

sage_status report(const Failure& failure, sage_error* error) {
  if (error != nullptr) {
    error->status = failure.status;
    error->driver_code = failure.driver_code;
    static_assert(sizeof error->text == sizeof failure.text);
    std::memcpy(error->text, failure.text, sizeof error->text);
  }
  return failure.status;
}

}  // namespace sage::runtime
