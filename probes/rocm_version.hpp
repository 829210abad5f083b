#pragma once

#include <string>

#include "probes/base/fact.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// A version and the file that said so.
struct SourcedVersion {
  Fact<std::string> version;
  Fact<std::string> source;
};

/// "7.2.0" by .info/version of an installed ROCm tree.
[[nodiscard]] SourcedVersion version_of_tree(const Host& host, const std::string& tree);

/// The ROCm that a torch wheel was made with, by <package>/version.py.
[[nodiscard]] SourcedVersion version_of_torch(const Host& host, const std::string& package);

/// The version of an SDK wheel: the tree inside says it, else the name of the wheel's dist-info folder.
[[nodiscard]] SourcedVersion version_of_sdk(const Host& host, const std::string& package);

/// The first two numbers of the ROCm release by the HIP version below `tree`, which the distributions' packages have in
/// place of .info/version. Unknown where HIP and ROCm count differently.
[[nodiscard]] SourcedVersion version_by_hip(const Host& host, const std::string& tree);

}  // namespace sage
