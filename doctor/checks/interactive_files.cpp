#include "doctor/checks/interactive_files.hpp"

#include <algorithm>

#include "probes/base/text.hpp"

namespace sage {

bool set_only_interactively(const std::vector<Assignment>& assignments) {
  return !assignments.empty() && std::all_of(assignments.begin(), assignments.end(), [](const Assignment& assignment) {
    return contains(assignment.file, "bashrc") || contains(assignment.file, "zshrc");
  });
}

}  // namespace sage
