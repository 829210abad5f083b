#include "doctor/checks/registry.hpp"

#include <algorithm>
#include <iterator>

namespace sage {
namespace {

bool ready(const Check& check, const std::vector<Check>& placed) {
  return std::all_of(check.depends.begin(), check.depends.end(), [&](std::string_view id) {
    return std::any_of(placed.begin(), placed.end(), [&](const Check& other) { return other.id == id; });
  });
}

// Stable: rows keep the order of their topics as far as the dependencies allow. A cycle or an unknown name leaves rows
// over; they are appended as they are, and a test refuses such a table.
std::vector<Check> prerequisites_first(std::vector<Check> rows) {
  std::vector<Check> placed;
  while (!rows.empty()) {
    const auto next = std::find_if(rows.begin(), rows.end(), [&](const Check& row) { return ready(row, placed); });
    if (next == rows.end()) break;
    placed.push_back(std::move(*next));
    rows.erase(next);
  }
  std::move(rows.begin(), rows.end(), std::back_inserter(placed));
  return placed;
}

std::vector<Check> collect() {
  std::vector<Check> rows;
  for (const auto topic : {platform_checks, gpu_checks, wsl_checks, driver_checks, device_checks, environment_checks,
                           python_checks, library_checks, toolchain_checks, build_checks, proof_checks}) {
    std::vector<Check> more = topic();
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return prerequisites_first(std::move(rows));
}

}  // namespace

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = collect();
  return checks;
}

const Check* find_check(std::string_view id) {
  for (const Check& check : all_checks()) {
    if (check.id == id) return &check;
  }
  return nullptr;
}

}  // namespace sage
