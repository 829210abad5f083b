#pragma once

#include <string>

#include "probes/base/fact.hpp"
#include "probes/host/host.hpp"
#include "probes/library_places.hpp"

namespace sage {

/// A version and the file that said so.
struct SourcedVersion {
  Fact<std::string> version;
  Fact<std::string> source;
};

/// "7.2.0" of the .info/version of an installed ROCm tree.
[[nodiscard]] SourcedVersion version_of_rocm_tree(const Host& host, const std::string& tree);

/// The ROCm version of the tree or wheel that a place belongs to.
[[nodiscard]] SourcedVersion version_of(const Host& host, const LibraryPlace& place);

}  // namespace sage
