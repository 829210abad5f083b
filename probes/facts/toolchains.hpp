#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/fact.hpp"

namespace sage {

/// What can turn source text into code for a GPU.
enum class CompilerKind { hipcc, amdclang, clang, hiprtc, comgr, nvcc };

template <>
inline constexpr auto enum_names<CompilerKind> = std::to_array<EnumName<CompilerKind>>({
    {CompilerKind::hipcc, "hipcc"},
    {CompilerKind::amdclang, "amdclang++"},
    {CompilerKind::clang, "clang++"},
    {CompilerKind::hiprtc, "hipRTC"},
    {CompilerKind::comgr, "comgr"},
    {CompilerKind::nvcc, "nvcc"},
});

/// What brought a compiler.
enum class ToolchainOrigin { torch_wheel, rocm_sdk_wheel, rocm_root, distribution, conda, spack, cuda_toolkit, other };

template <>
inline constexpr auto enum_names<ToolchainOrigin> = std::to_array<EnumName<ToolchainOrigin>>({
    {ToolchainOrigin::torch_wheel, "torch-wheel"},
    {ToolchainOrigin::rocm_sdk_wheel, "rocm-sdk-wheel"},
    {ToolchainOrigin::rocm_root, "rocm-root"},
    {ToolchainOrigin::distribution, "distribution"},
    {ToolchainOrigin::conda, "conda"},
    {ToolchainOrigin::spack, "spack"},
    {ToolchainOrigin::cuda_toolkit, "cuda-toolkit"},
    {ToolchainOrigin::other, "other"},
});

/// One compiler with the tree that it works from, all by files. Whether it can build for a target is judged from these
/// (doctor/toolchain), never here.
struct Toolchain {
  std::string path;                ///< the program, or the library of hipRTC and comgr, as it was found
  Fact<std::string> canonical;     ///< where that leads
  Fact<CompilerKind> kind;
  Fact<ToolchainOrigin> origin;
  Fact<std::string> root;          ///< its tree: "/opt/rocm-7.2.0", "<site>/_rocm_sdk_core", "/usr"; empty: none
  Fact<std::string> rocm_version;  ///< "7.2.0"; of nvcc the CUDA version
  Fact<std::string> version_source;
  Fact<std::string> clang;         ///< the clang program that does the work; empty where the library brings its own
  Fact<std::string> clang_version; ///< "19.1.7" or "22"
  Fact<std::string> device_libraries;            ///< folder of ocml.bc and its like; empty: none found
  Fact<std::vector<std::string>> device_targets; ///< targets of the oclc_isa_version_*.bc there
  Fact<std::string> hip_headers;                 ///< include folder that has hip/hip_runtime.h; empty: none
  Fact<std::vector<std::string>> headers;        ///< which of the libraries' headers are in that folder: "hipblas", "rocprim", "thrust" ...
  Fact<std::string> linker;                      ///< lld program that this compiler would find; empty: none
  Fact<std::string> bundler;                     ///< clang-offload-bundler; empty: none
  Fact<bool> on_path;                            ///< a program of PATH by its plain name
  Fact<bool> trampoline;                         ///< a Python script of the rocm-sdk-core wheel that starts the real one

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("path", &Toolchain::path);
    visit("canonical", &Toolchain::canonical);
    visit("kind", &Toolchain::kind);
    visit("origin", &Toolchain::origin);
    visit("root", &Toolchain::root);
    visit("rocm_version", &Toolchain::rocm_version);
    visit("version_source", &Toolchain::version_source);
    visit("clang", &Toolchain::clang);
    visit("clang_version", &Toolchain::clang_version);
    visit("device_libraries", &Toolchain::device_libraries);
    visit("device_targets", &Toolchain::device_targets);
    visit("hip_headers", &Toolchain::hip_headers);
    visit("headers", &Toolchain::headers);
    visit("linker", &Toolchain::linker);
    visit("bundler", &Toolchain::bundler);
    visit("on_path", &Toolchain::on_path);
    visit("trampoline", &Toolchain::trampoline);
  }
};

/// What torch.utils.cpp_extension would take for ROCM_HOME (facts/wheels.md 2.5).
struct TorchRocmHome {
  std::string torch_folder;                 ///< "<site>/torch", as in Python
  Fact<std::optional<std::string>> path;    ///< nullopt: torch finds none
  /// "ROCM_HOME", "ROCM_PATH", "_rocm_sdk_devel", "_rocm_sdk_core", "hipcc on PATH", "/opt/rocm", "none"; "empty" of a
  /// PyTorch before 2.1, which takes an empty text for a path where it finds no hipcc
  Fact<std::string> rule;
  Fact<bool> has_headers;                   ///< include/hip/hip_version.h is below it
  Fact<bool> has_hipcc;                     ///< bin/hipcc is below it
  Fact<std::vector<std::string>> headers;   ///< which libraries' headers are below it, as in Toolchain
  Fact<bool> hipcc_in_torch;                ///< the torch package itself has bin/hipcc: what popular guides believe

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("torch_folder", &TorchRocmHome::torch_folder);
    visit("path", &TorchRocmHome::path);
    visit("rule", &TorchRocmHome::rule);
    visit("has_headers", &TorchRocmHome::has_headers);
    visit("has_hipcc", &TorchRocmHome::has_hipcc);
    visit("headers", &TorchRocmHome::headers);
    visit("hipcc_in_torch", &TorchRocmHome::hipcc_in_torch);
  }
};

/// A program that building needs beside the GPU compiler.
struct BuildTool {
  std::string name;        ///< "g++", "make", "ninja", "git" ...
  Fact<std::string> path;  ///< empty: not on PATH

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("name", &BuildTool::name);
    visit("path", &BuildTool::path);
  }
};

/// What clang would find where a variable sends it for device libraries: HIP_DEVICE_LIB_PATH names their folder,
/// ROCM_PATH a tree that has it.
struct NamedDeviceLibraries {
  std::string variable;
  std::string path;                      ///< the variable's value
  Fact<std::string> folder;              ///< where ocml.bc lies, canonical; empty: not where clang looks
  Fact<std::vector<std::string>> targets;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("variable", &NamedDeviceLibraries::variable);
    visit("path", &NamedDeviceLibraries::path);
    visit("folder", &NamedDeviceLibraries::folder);
    visit("targets", &NamedDeviceLibraries::targets);
  }
};

struct Toolchains {
  Fact<std::vector<Toolchain>> compilers;
  Fact<std::vector<NamedDeviceLibraries>> named_device_libraries;  ///< of the variables that are set
  Fact<std::vector<TorchRocmHome>> torch_rocm_homes;
  Fact<std::vector<BuildTool>> build_tools;
  /// Versions of libstdc++ whose headers lie in /usr/include/c++, the newest first: clang and hipcc take the newest.
  Fact<std::vector<std::string>> cxx_headers;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("compilers", &Toolchains::compilers);
    visit("named_device_libraries", &Toolchains::named_device_libraries);
    visit("torch_rocm_homes", &Toolchains::torch_rocm_homes);
    visit("build_tools", &Toolchains::build_tools);
    visit("cxx_headers", &Toolchains::cxx_headers);
  }
};

}  // namespace sage
