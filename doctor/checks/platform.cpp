#include "doctor/checks/registry.hpp"

namespace sage {

std::vector<Check> platform_checks() { return {}; }

}  // namespace sage
