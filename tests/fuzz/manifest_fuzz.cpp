#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "doctor/build/install/manifest.hpp"
#include "doctor/build/smoke_record.hpp"
#include "doctor/build/summary.hpp"
#include "probes/installed_manifest.hpp"

// What an installation and a trial say of themselves: whatever is accepted can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = sage::manifest_from_text(text);
  if (manifest.ok()) {
    if (!sage::manifest_from_text(sage::manifest_text(*manifest)).ok()) std::abort();
    if (sage::worth(*manifest).empty()) std::abort();
  } else if (manifest.error().text.empty()) {
    std::abort();
  }
  const auto installed = sage::parse_installed_manifest(text);
  if (!installed.ok() && installed.error().text.empty()) std::abort();
  const sage::SmokeRun run = sage::smoke_run_from_text(text);
  if (sage::smoke_run_from_text(sage::smoke_run_text(run)).records.size() != run.records.size()) std::abort();
  return 0;
}
