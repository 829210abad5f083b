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

/// templates/report/report.html. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_report_templates();

/// What a build of the kernels is made of: sage_kernels.hip (the device text), its digest, attention.h and libsage_attention.so.1.
/// Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_kernel_sources();

/// The Python package sage_doctor_attention: all of its .py files. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_python_package();

/// Code objects that were made together with this program, one a unit: "gfx1201-sage_prologue.hsaco". Empty where no
/// compiler for them was there. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_code_objects();

/// doctor/diagnose/rules/*.toml. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_log_rules();

/// doctor/build/compile/failures.toml. Defined in a source that the build generates.
[[nodiscard]] std::span<const EmbeddedFile> embedded_failure_rules();

}  // namespace sage
