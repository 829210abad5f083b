#include <string>
#include <vector>

#include <re2/re2.h>
#include <spdlog/spdlog.h>

#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/nearest.hpp"

namespace sage {
namespace {

constexpr const char* where_to_look = "'sage-doctor explain symptoms' finds pages by what you see, 'sage-doctor list' shows all checks";

/// Pages link to each other for readers of the web; in a terminal the id alone is what one types.
std::string without_links(std::string_view page) {
  std::string text(page);
  RE2::GlobalReplace(&text, R"(\[([a-z0-9.-]+)\]\([a-z0-9.-]+\.md\))", R"(\1)");
  return text;
}

}  // namespace

int run_explain(const std::string& id) {
  if (id.empty()) {
    spdlog::error("explain which check? {}", where_to_look);
    return exit_usage;
  }
  std::vector<std::string_view> ids;
  for (const EmbeddedFile& page : embedded_finding_pages()) {
    ids.push_back(page.name.substr(0, page.name.rfind(".md")));
    if (ids.back() == id) return write_product(without_links(page.text), 0);
  }
  spdlog::error("there is no page about '{}'{}; {}", id, did_you_mean(id, ids), where_to_look);
  return exit_usage;
}

}  // namespace sage
