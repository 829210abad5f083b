#pragma once

#include <array>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/fact.hpp"

namespace sage {

/// What put a library where it is.
enum class LibraryOrigin { torch_wheel, rocm_sdk_wheel, rocm_root, distribution, library_path, configured, conda };

template <>
inline constexpr auto enum_names<LibraryOrigin> = std::to_array<EnumName<LibraryOrigin>>({
    {LibraryOrigin::torch_wheel, "torch-wheel"},
    {LibraryOrigin::rocm_sdk_wheel, "rocm-sdk-wheel"},
    {LibraryOrigin::rocm_root, "rocm-root"},
    {LibraryOrigin::distribution, "distribution"},
    {LibraryOrigin::library_path, "LD_LIBRARY_PATH"},
    {LibraryOrigin::configured, "configuration"},
    {LibraryOrigin::conda, "conda"},
});

/// An installed ROCm tree such as /opt/rocm-7.2.0.
struct RocmRoot {
  std::string path;           ///< canonical
  Fact<std::string> version;  ///< from .info/version, "7.2.0"

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("path", &RocmRoot::path);
    visit("version", &RocmRoot::version);
  }
};

/// One libhsa-runtime64: the library that decides whether a program can reach the GPU.
struct HsaCopy {
  std::string path;
  Fact<LibraryOrigin> origin;
  Fact<std::string> rocm_version;    ///< of the tree or wheel it belongs to
  Fact<std::string> version_source;  ///< the file that said so
  Fact<bool> names_rocdxg;           ///< the file contains "librocdxg": it has the DXG thunk loader
  Fact<bool> names_d3dkmt;           ///< the file contains "D3DKMT": the thunk for Windows is linked in (roc4wsl)
  Fact<std::vector<std::string>> runpath;  ///< RPATH or RUNPATH folders with $ORIGIN expanded

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("path", &HsaCopy::path);
    visit("origin", &HsaCopy::origin);
    visit("rocm_version", &HsaCopy::rocm_version);
    visit("version_source", &HsaCopy::version_source);
    visit("names_rocdxg", &HsaCopy::names_rocdxg);
    visit("names_d3dkmt", &HsaCopy::names_d3dkmt);
    visit("runpath", &HsaCopy::runpath);
  }
};

/// One librocdxg, the bridge from libhsa-runtime64 to /dev/dxg.
struct RocdxgCopy {
  std::string path;
  Fact<LibraryOrigin> origin;
  Fact<bool> in_loader_cache;
  Fact<bool> in_library_path;
  Fact<bool> exports_thunk;      ///< exports hsaKmtOpenKFD
  Fact<bool> exports_abi_check;  ///< exports DxgAbiCheck

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("path", &RocdxgCopy::path);
    visit("origin", &RocdxgCopy::origin);
    visit("in_loader_cache", &RocdxgCopy::in_loader_cache);
    visit("in_library_path", &RocdxgCopy::in_library_path);
    visit("exports_thunk", &RocdxgCopy::exports_thunk);
    visit("exports_abi_check", &RocdxgCopy::exports_abi_check);
  }
};

struct Rocm {
  Fact<std::vector<RocmRoot>> roots;
  Fact<std::vector<HsaCopy>> hsa;
  Fact<std::vector<RocdxgCopy>> rocdxg;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("roots", &Rocm::roots);
    visit("hsa", &Rocm::hsa);
    visit("rocdxg", &Rocm::rocdxg);
  }
};

}  // namespace sage
