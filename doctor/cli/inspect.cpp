#include <spdlog/spdlog.h>

#include <chrono>
#include <limits>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/inspect/inspect_file.hpp"
#include "doctor/inspect/inspect_json.hpp"
#include "doctor/inspect/inspect_text.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/host/child.hpp"
#include "probes/host/live_host.hpp"
#include "probes/host/path_finder.hpp"

namespace sage {
namespace {

/// Of a file on a filesystem that answered at first. A network may be slow, and a big library takes many reads.
constexpr std::chrono::milliseconds remote_deadline{120'000};

Result<std::string> product(const InspectCommandOptions& options, const Host& host) {
  InspectOptions what;
  what.kernels = options.kernels;
  what.exports = options.exports;
  const Result<Inspection> found = inspect_file(options.file, what);
  if (!found) return found.error();
  if (options.json) return inspect_json(*found, SAGE_VERSION, options.redact ? make_redaction(host) : Redaction());
  InspectTextStyle style;
  style.width = output_width();
  if (options.kernels) style.most_kernels = std::numeric_limits<std::size_t>::max();
  return inspect_text(*found, style);
}

/// Where the file lies on a filesystem that may hang, it is asked for in a child; it is looked into only if that
/// answers at once, and then in a child too.
Result<std::string> guarded_product(const InspectCommandOptions& options) {
  const std::unique_ptr<Host> host = make_live_host();
  const auto place = PathFinder(host->mounts().value_or({})).find(options.file, Links::follow);
  if (!place || place->waits_on.empty()) return product(options, *host);
  if (const auto status = host->status(options.file); !status) return status.error();
  return call_in_child<std::string>(options.file + ": the filesystem at " + place->waits_on, remote_deadline,
                                    [&] { return product(options, *host); });
}

}  // namespace

int run_inspect(const InspectCommandOptions& options) {
  const Result<std::string> text = guarded_product(options);
  if (!text) {
    spdlog::error("{}", printable(text.error().text));
    return exit_usage;
  }
  return write_product(*text, 0);
}

}  // namespace sage
