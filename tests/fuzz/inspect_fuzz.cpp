#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "doctor/inspect/inspect_file.hpp"
#include "doctor/inspect/inspect_json.hpp"
#include "doctor/inspect/inspect_text.hpp"
#include "probes/host/descriptor.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sage::Descriptor file(memfd_create("file", MFD_CLOEXEC));
  if (write(file.number(), data, size) != static_cast<ssize_t>(size)) std::abort();
  sage::InspectOptions options;
  options.exports = true;
  options.little_kernel_bytes = options.most_kernel_bytes = options.most_bundle_bytes = 16 * 1024 * 1024;
  const auto found = sage::inspect_file("/proc/self/fd/" + std::to_string(file.number()), options);
  if (!found.ok()) {
    if (found.error().text.empty()) std::abort();
    return 0;
  }
  const std::string text = sage::inspect_text(*found, {});
  if (text.find_first_of("\x1b\r\b\x7f") != std::string::npos) std::abort();
  if (sage::inspect_json(*found, "0", sage::Redaction()).empty()) std::abort();
  return 0;
}
