#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/inspect/inspection.hpp"
#include "probes/base/result.hpp"

namespace sage {

struct InspectOptions {
  bool kernels = false;  ///< list kernels even if much has to be read for that, up to `most_kernel_bytes`
  bool exports = false;
  /// Without `kernels` they are listed only when all code objects together have at most this many bytes.
  std::uint64_t little_kernel_bytes = 16 * 1024 * 1024;
  std::uint64_t most_kernel_bytes = std::uint64_t{8} << 30;  ///< decompressed, all together
  std::uint64_t most_bundle_bytes = std::uint64_t{1} << 30;  ///< of one bundle, which is held in memory
  std::size_t most_exports = 100'000;
};

/// Reads what a file says of itself: ELF files for a CPU, AMDGPU code objects, cubins, offload bundles, .kpack files
/// (those by their name alone: their format is not public). By pread in pieces, since a file may be huge and may shrink
/// meanwhile. The Error names the file, the reason and what to do.
[[nodiscard]] Result<Inspection> inspect_file(const std::string& path, const InspectOptions& options);

/// Of each family of versions the highest: {"GLIBC_2.17", "GLIBC_2.34", "GLIBC_PRIVATE"} gives {"GLIBC_2.34",
/// "GLIBC_PRIVATE"}. In the order in which the families first appear.
[[nodiscard]] std::vector<std::string> highest_versions(const std::vector<std::string>& versions);

/// What the name of a .kpack file tells (facts/wheels.md 2.12): "blas_gfx1201.kpack" is {"blas", "gfx1201"}; an empty
/// target when the name has another form.
struct KpackName {
  std::string name;
  std::string target;
};
[[nodiscard]] KpackName parse_kpack_name(std::string_view file_name);

}  // namespace sage
