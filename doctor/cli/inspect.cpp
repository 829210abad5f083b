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

/// Hands the product to `sink` piece by piece.
Result<bool> make_product(const InspectCommandOptions& options, const Host& host, const TextSink& sink) {
  InspectOptions what;
  what.kernels = options.kernels;
  what.exports = options.exports;
  const Result<Inspection> found = inspect_file(options.file, what);
  if (!found) return found.error();
  if (options.json) {
    write_inspect_json(*found, SAGE_VERSION, options.redact ? make_redaction(host) : Redaction(), sink);
    return true;
  }
  InspectTextStyle style;
  style.width = output_width();
  if (options.kernels) style.most_kernels = std::numeric_limits<std::size_t>::max();
  sink(inspect_text(*found, style));
  return true;
}

/// In a child. The file is looked into only if its filesystem answers at once.
Result<bool> make_product_of_remote(const InspectCommandOptions& options, const Host& host, const std::string& mount,
                                    const TextSink& sink) {
  if (const auto status = host.status(options.file); !status) return status.error();
  const auto text = call_in_child<std::string>(
      options.file + ": the filesystem at " + mount, remote_deadline, [&]() -> Result<std::string> {
        std::string all;
        const auto made = make_product(options, host, [&](std::string_view piece) { all += piece; });
        return made ? Result<std::string>(std::move(all)) : made.error();
      });
  if (!text) return text.error();
  sink(*text);
  return true;
}

}  // namespace

int run_inspect(const InspectCommandOptions& options) {
  const std::unique_ptr<Host> host = make_live_host();
  const auto place = PathFinder(host->mounts().value_or({})).find(options.file, Links::follow);
  const bool remote = place.ok() && !place->waits_on.empty();
  int status = 0;
  const TextSink to_stdout = [&status](std::string_view piece) {
    if (status == 0) status = write_product(piece, 0);
  };
  const auto made = remote ? make_product_of_remote(options, *host, place->waits_on, to_stdout)
                           : make_product(options, *host, to_stdout);
  if (made) return status;
  spdlog::error("{}", printable(made.error().text));
  return exit_usage;
}

}  // namespace sage
