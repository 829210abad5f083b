#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/checks/registry.hpp"
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
  for (const Check& check : all_checks()) ids.emplace_back(check.id);
  spdlog::error("there is no check '{}'{}; 'sage-doctor list' shows them all", id, did_you_mean(id, ids));
  return exit_usage;
}

}  // namespace sage
