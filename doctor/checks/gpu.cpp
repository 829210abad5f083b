#include "doctor/checks/registry.hpp"

namespace sage {

std::vector<Check> gpu_checks() { return {}; }

}  // namespace sage
