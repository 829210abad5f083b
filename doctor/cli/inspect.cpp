#include <spdlog/spdlog.h>

#include <limits>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/inspect/inspect_file.hpp"
#include "doctor/inspect/inspect_json.hpp"
#include "doctor/inspect/inspect_text.hpp"
#include "doctor/report/wrap.hpp"

namespace sage {

int run_inspect(const InspectCommandOptions& options) {
  InspectOptions what;
  what.kernels = options.kernels;
  what.exports = options.exports;
  const Result<Inspection> found = inspect_file(options.file, what);
  if (!found) {
    spdlog::error("{}", printable(found.error().text));
    return exit_usage;
  }
  if (options.json) return write_product(inspect_json(*found, SAGE_VERSION), 0);
  InspectTextStyle style;
  style.width = output_width();
  if (options.kernels) style.most_kernels = std::numeric_limits<std::size_t>::max();
  return write_product(inspect_text(*found, style), 0);
}

}  // namespace sage
