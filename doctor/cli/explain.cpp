#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/report/page_text.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/nearest.hpp"

namespace sage {
namespace {

constexpr const char* where_to_look =
    "'sage-doctor explain symptoms' finds pages by what you see, 'sage-doctor list' shows all checks";

}  // namespace

int run_explain(const std::string& id) {
  if (id.empty()) {
    spdlog::error("explain which check? {}", where_to_look);
    return exit_usage;
  }
  std::vector<std::string_view> ids;
  for (const EmbeddedFile& page : embedded_finding_pages()) {
    ids.push_back(page.name.substr(0, page.name.rfind(".md")));
    if (ids.back() == id) return write_product(page_text(page.text, output_width()), 0);
  }
  spdlog::error("there is no page about '{}'{}; {}", printable(id), did_you_mean(id, ids), where_to_look);
  return exit_usage;
}

}  // namespace sage
