#pragma once

#include <vector>

#include "probes/facts/python.hpp"
#include "probes/facts/toolchains.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// What torch.utils.cpp_extension takes for ROCM_HOME, for every ROCm build of PyTorch that an environment imports, by
/// the rules of its version (facts/wheels.md 2.5). Where the release that changed a rule is not established and both
/// rules are possible, the answer is known only when they agree.
[[nodiscard]] std::vector<TorchRocmHome> find_torch_rocm_homes(const Host& host, const Python& python);

}  // namespace sage
