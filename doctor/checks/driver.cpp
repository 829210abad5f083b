#include "doctor/checks/registry.hpp"

namespace sage {

std::vector<Check> driver_checks() { return {}; }

}  // namespace sage
