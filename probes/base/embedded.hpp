#pragma once

#include <span>
#include <string_view>

namespace sage {

/// A file of the source tree that is compiled into the binary.
struct EmbeddedFile {
  std::string_view name;  ///< without folder: "gpus.toml"
  std::string_view text;
};

/// probes/data/*.toml. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_tables();

/// docs/findings/*.md. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_finding_pages();

/// templates/env/*. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_env_templates();

/// doctor/build/compile/failures.toml. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_failure_rules();

}  // namespace sage
