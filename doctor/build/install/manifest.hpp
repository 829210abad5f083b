#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/build/object_origin.hpp"
#include "probes/base/enum_names.hpp"
#include "probes/base/result.hpp"
#include "probes/installed_manifest.hpp"

// What an installation says of itself: <version folder>/manifest.json. The probe of installations reads a part of it
// (probes/installed_manifest.hpp); the names there are the names here.

namespace sage {

/// What a kernel ran on. Emulated lanes are no GPU: they stand under `accuracy` alone.
enum class ExecutedOn { none, gpu };

template <>
inline constexpr auto enum_names<ExecutedOn> = std::to_array<EnumName<ExecutedOn>>({
    {ExecutedOn::none, "none"},
    {ExecutedOn::gpu, "gpu"},
});

/// A file of the version's folder.
struct ManifestFile {
  std::string file;  ///< relative: "lib/libsage_attention.so.1"
  std::string sha256;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("file", &ManifestFile::file);
    visit("sha256", &ManifestFile::sha256);
  }
};

struct ManifestLibrary {
  std::string file;
  std::string sha256;
  std::uint32_t abi_version = 0;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("file", &ManifestLibrary::file);
    visit("sha256", &ManifestLibrary::sha256);
    visit("abi_version", &ManifestLibrary::abi_version);
  }
};

struct ManifestToolchain {
  std::string kind;  ///< name of a CompilerKind; "prebuilt" when nothing was compiled
  std::string path;
  std::string version;
  std::string rocm_version;  ///< empty: none

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("kind", &ManifestToolchain::kind);
    visit("path", &ManifestToolchain::path);
    visit("version", &ManifestToolchain::version);
    visit("rocm_version", &ManifestToolchain::rocm_version);
  }
};

/// One code object. Registers are a lane's, LDS a block's, scratch a lane's bytes.
struct ManifestKernel {
  std::string name;
  std::string file;
  std::string sha256;
  ObjectOrigin origin = ObjectOrigin::compiled;
  std::uint32_t vgprs = 0;
  std::uint32_t sgprs = 0;
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes = 0;
  std::uint32_t spilled_registers = 0;
  ExecutedOn executed_on = ExecutedOn::none;
  std::vector<std::string> warnings;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("name", &ManifestKernel::name);
    visit("file", &ManifestKernel::file);
    visit("sha256", &ManifestKernel::sha256);
    visit("origin", &ManifestKernel::origin);
    visit("vgprs", &ManifestKernel::vgprs);
    visit("sgprs", &ManifestKernel::sgprs);
    visit("lds_bytes", &ManifestKernel::lds_bytes);
    visit("scratch_bytes", &ManifestKernel::scratch_bytes);
    visit("spilled_registers", &ManifestKernel::spilled_registers);
    visit("executed_on", &ManifestKernel::executed_on);
    visit("warnings", &ManifestKernel::warnings);
  }
};

struct ManifestTarget {
  std::string target;  ///< "gfx1201", "sm_90"
  std::string family;
  ManifestToolchain toolchain;
  std::vector<ManifestKernel> kernels;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("target", &ManifestTarget::target);
    visit("family", &ManifestTarget::family);
    visit("toolchain", &ManifestTarget::toolchain);
    visit("kernels", &ManifestTarget::kernels);
  }
};

/// One case of the smoke test against the fp64 reference. A number that could not be computed is NaN, null in JSON.
struct ManifestAccuracy {
  std::string kernel;
  std::string where;      ///< "gpu gfx1201", "emulated gfx12"
  std::string case_text;  ///< the shape, in words
  double relative_l1 = 0;
  double rmse = 0;
  double worst_row = 0;
  double lse_error = 0;
  bool passed = false;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("kernel", &ManifestAccuracy::kernel);
    visit("where", &ManifestAccuracy::where);
    visit("case", &ManifestAccuracy::case_text);
    visit("relative_l1", &ManifestAccuracy::relative_l1);
    visit("rmse", &ManifestAccuracy::rmse);
    visit("worst_row", &ManifestAccuracy::worst_row);
    visit("lse_error", &ManifestAccuracy::lse_error);
    visit("passed", &ManifestAccuracy::passed);
  }
};

struct Manifest {
  std::uint32_t version = manifest_version;
  std::string tool_version;
  std::string created;        ///< "2026-12-01T03:00:00Z"
  std::string mark;           ///< make_mark() of the facts that it was built from
  std::string source_sha256;  ///< of src/sage_kernels.hip
  ManifestLibrary library;
  std::vector<ManifestTarget> targets;
  std::vector<ManifestAccuracy> accuracy;
  std::vector<ManifestFile> other_files;  ///< header, source, whatever else must be there unaltered; not the log

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("version", &Manifest::version);
    visit("tool_version", &Manifest::tool_version);
    visit("created", &Manifest::created);
    visit("mark", &Manifest::mark);
    visit("source_sha256", &Manifest::source_sha256);
    visit("library", &Manifest::library);
    visit("targets", &Manifest::targets);
    visit("accuracy", &Manifest::accuracy);
    visit("other_files", &Manifest::other_files);
  }
};

/// JSON, indented by two, with a line end. Text that is no UTF-8 gets U+FFFD in its place.
[[nodiscard]] std::string manifest_text(const Manifest& manifest);

/// The inverse. Errors name the place ("targets[0].kernels[1].file: ..."): not JSON, too long, another version, a wrong
/// type, a missing key, a path that leads out of the folder, a digest that is none, two files of one name.
[[nodiscard]] Result<Manifest> manifest_from_text(std::string_view text);

/// The manifest of a version's folder; the Error names the file.
[[nodiscard]] Result<Manifest> read_manifest(const std::string& version_folder);

/// Every file that the manifest lists and that is not there, can't be read or has another digest: "kernels/x.hsaco: it
/// is gone". Empty: all is as it was installed.
[[nodiscard]] std::vector<std::string> altered_files(const std::string& version_folder, const Manifest& manifest);

}  // namespace sage
