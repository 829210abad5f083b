#include "doctor/checks/registry.hpp"

namespace sage {

std::vector<Check> wsl_checks() { return {}; }

}  // namespace sage
