#include "doctor/checks/registry.hpp"

namespace sage {

std::vector<Check> environment_checks() { return {}; }

}  // namespace sage
