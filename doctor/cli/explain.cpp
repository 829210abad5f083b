#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/nearest.hpp"

namespace sage {

int run_explain(const std::string& id) {
  for (const EmbeddedFile& page : embedded_finding_pages()) {
    if (page.name == id + ".md") return write_product(page.text, 0);
  }
  std::vector<std::string_view> ids;
  for (const EmbeddedFile& page : embedded_finding_pages()) ids.push_back(page.name.substr(0, page.name.rfind(".md")));
  spdlog::error("there is no finding '{}'{}; 'sage-doctor list' shows all checks", id, did_you_mean(id, ids));
  return exit_usage;
}

}  // namespace sage
