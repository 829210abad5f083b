#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "doctor/checks/registry.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"

namespace sage {

int run_list(bool json) {
  if (json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Check& check : all_checks()) {
      rows.push_back({{"id", check.id},
                      {"title", check.title},
                      {"topic", enum_name(check.topic)},
                      {"depends", nlohmann::ordered_json(check.depends)}});
    }
    return write_product(rows.dump(2) + "\n", 0);
  }
  std::size_t width = 0;
  for (const Check& check : all_checks()) width = std::max(width, check.id.size());
  std::string text;
  for (const Check& check : all_checks()) {
    text += std::string(check.id) + std::string(width - check.id.size() + 2, ' ') + std::string(check.title) + "\n";
  }
  return write_product(text, 0);
}

}  // namespace sage
