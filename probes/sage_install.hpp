#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Describes <site>/sageattention. `packages` are the site's distributions of interest.
[[nodiscard]] SageInstall describe_sageattention(const Host& host, const std::string& site,
                                                 const std::vector<PythonPackage>& packages);

/// The sources of SageAttention in the working folder, or in SageAttention in it.
[[nodiscard]] Fact<std::vector<SageSources>> find_sage_sources(const Host& host);

/// A line of setup.py that tells the version, or that its author knew ROCm.
[[nodiscard]] bool tells_of_sage_build(std::string_view line);

/// Whether the text of SageAttention's Triton kernel sets the scores of keys that are not there to minus infinity. It
/// loads K under k_mask in every version; without the second use of the mask the missing keys count as keys with score
/// 0 (facts/sage.md 4). Unknown for a text that is no such kernel.
[[nodiscard]] Fact<bool> masks_tail(std::string_view kernel, const std::string& file);

}  // namespace sage
