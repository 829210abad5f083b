#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sage {

/// The file that a piece of evidence, or a subject, names.
struct EvidencePlace {
  std::string uri;                    ///< "file:///etc/environment", or of a relative path "build.log"
  std::optional<std::uint64_t> line;  ///< from 1
};

/// Understands "/etc/environment", "/etc/environment line 2", "/etc/wsl.conf [gpu] enabled" and "build.log:123".
/// nullopt for what names no one file: a variable, a pattern, a path through ".." (which only the machine could
/// resolve).
[[nodiscard]] std::optional<EvidencePlace> evidence_place(std::string_view source);

}  // namespace sage
