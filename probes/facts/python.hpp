#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/fact.hpp"

namespace sage {

/// What made a Python environment.
enum class PythonKind { venv, uv, conda, pyenv, system };

template <>
inline constexpr auto enum_names<PythonKind> = std::to_array<EnumName<PythonKind>>({
    {PythonKind::venv, "venv"},
    {PythonKind::uv, "uv"},
    {PythonKind::conda, "conda"},
    {PythonKind::pyenv, "pyenv"},
    {PythonKind::system, "system"},
});

/// Why an environment was looked at, the strongest reason first.
enum class PythonFound { named, virtual_env, conda_prefix, working_folder, path, conda_list };

template <>
inline constexpr auto enum_names<PythonFound> = std::to_array<EnumName<PythonFound>>({
    {PythonFound::named, "--python"},
    {PythonFound::virtual_env, "VIRTUAL_ENV"},
    {PythonFound::conda_prefix, "CONDA_PREFIX"},
    {PythonFound::working_folder, "working-folder"},
    {PythonFound::path, "PATH"},
    {PythonFound::conda_list, "environments.txt"},
});

/// What a folder of sys.path belongs to.
enum class SiteKind { python_path, own, user, base, pth };

template <>
inline constexpr auto enum_names<SiteKind> = std::to_array<EnumName<SiteKind>>({
    {SiteKind::python_path, "PYTHONPATH"},
    {SiteKind::own, "own"},
    {SiteKind::user, "user"},
    {SiteKind::base, "base"},
    {SiteKind::pth, "pth"},
});

struct PythonSite {
  std::string path;
  Fact<SiteKind> kind;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("path", &PythonSite::path);
    visit("kind", &PythonSite::kind);
  }
};

/// One dist-info or egg-info folder of a distribution of interest, by its name alone.
struct PythonPackage {
  std::string name;       ///< normalised: lower case, "-" for "_" and "."
  Fact<std::string> version;  ///< "3.5.1+rocm7.2.0.gita272dfa8"
  std::string dist_info;  ///< path of the folder

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("name", &PythonPackage::name);
    visit("version", &PythonPackage::version);
    visit("dist_info", &PythonPackage::dist_info);
  }
};

enum class TorchFlavour { rocm, cuda, xpu, cpu };

template <>
inline constexpr auto enum_names<TorchFlavour> = std::to_array<EnumName<TorchFlavour>>({
    {TorchFlavour::rocm, "ROCm"},
    {TorchFlavour::cuda, "CUDA"},
    {TorchFlavour::xpu, "XPU"},
    {TorchFlavour::cpu, "CPU"},
});

/// How a ROCm build gets its HIP runtime (facts/wheels.md 2.1): `fat` brings it in torch/lib, `thin` uses the rocm-sdk
/// wheels beside it, `lightweight` and `source` (built on this machine) need a ROCm of the system.
enum class TorchFamily { fat, thin, lightweight, source };

template <>
inline constexpr auto enum_names<TorchFamily> = std::to_array<EnumName<TorchFamily>>({
    {TorchFamily::fat, "fat"},
    {TorchFamily::thin, "thin"},
    {TorchFamily::lightweight, "lightweight"},
    {TorchFamily::source, "source"},
});

/// One torch package in a folder of sys.path.
struct TorchInstall {
  std::string folder;  ///< "<site>/torch"
  Fact<SiteKind> site;
  Fact<std::string> version;                     ///< __version__ of torch/version.py
  Fact<std::optional<std::string>> hip;          ///< of torch/version.py; nullopt: None, or no such line
  Fact<std::optional<std::string>> cuda;
  Fact<std::optional<std::string>> rocm;
  Fact<TorchFlavour> flavour;                    ///< by torch/version.py
  Fact<TorchFlavour> library_flavour;            ///< by the names in torch/lib
  Fact<std::vector<std::string>> metadata_versions;  ///< of every dist-info of torch beside it, by METADATA
  Fact<std::vector<std::string>> needs;          ///< Requires-Dist without the markers, of every dist-info beside it
  Fact<std::vector<std::string>> wheel_tags;     ///< "cp312-cp312-manylinux_2_28_x86_64", of every dist-info beside it
  Fact<TorchFamily> family;                      ///< of a ROCm build
  Fact<std::string> family_evidence;             ///< the file or line that decided it
  Fact<std::vector<std::string>> other_families;  ///< files and lines that speak for another family than `family`
  Fact<std::vector<std::string>> rocblas_targets;  ///< gfx targets in file names of torch/lib/rocblas/library
  Fact<bool> editable;                           ///< a development install: the files lie in another tree
  Fact<bool> numa_without_alias;                 ///< torch/lib has libnuma.so.1 and no libnuma.so (facts/wheels.md P15)
  Fact<std::vector<std::string>> hipblaslt_targets;  ///< as rocblas_targets, of torch/lib/hipblaslt/library
  Fact<std::vector<std::string>> aotriton_images;  ///< names in torch/lib/aotriton.images: "amd-gfx11xx"; empty: none
  Fact<std::vector<std::string>> kpack_targets;  ///< gfx targets in file names of torch/.kpack
  // Of torch/lib/libtorch_hip.so; read for the torch in use alone.
  Fact<std::vector<std::string>> rpath;
  Fact<std::vector<std::string>> runpath;
  Fact<std::vector<std::string>> needed_hip;     ///< "libamdhip64.so.7", as its DT_NEEDED names it
  Fact<bool> code_in_file;                       ///< false: its code for GPUs lies in .kpack files
  Fact<std::vector<std::string>> code_targets;   ///< of its code objects: "gfx1201", "gfx90a:xnack-"

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("folder", &TorchInstall::folder);
    visit("site", &TorchInstall::site);
    visit("version", &TorchInstall::version);
    visit("hip", &TorchInstall::hip);
    visit("cuda", &TorchInstall::cuda);
    visit("rocm", &TorchInstall::rocm);
    visit("flavour", &TorchInstall::flavour);
    visit("library_flavour", &TorchInstall::library_flavour);
    visit("metadata_versions", &TorchInstall::metadata_versions);
    visit("needs", &TorchInstall::needs);
    visit("wheel_tags", &TorchInstall::wheel_tags);
    visit("family", &TorchInstall::family);
    visit("family_evidence", &TorchInstall::family_evidence);
    visit("other_families", &TorchInstall::other_families);
    visit("rocblas_targets", &TorchInstall::rocblas_targets);
    visit("editable", &TorchInstall::editable);
    visit("numa_without_alias", &TorchInstall::numa_without_alias);
    visit("hipblaslt_targets", &TorchInstall::hipblaslt_targets);
    visit("aotriton_images", &TorchInstall::aotriton_images);
    visit("kpack_targets", &TorchInstall::kpack_targets);
    visit("rpath", &TorchInstall::rpath);
    visit("runpath", &TorchInstall::runpath);
    visit("needed_hip", &TorchInstall::needed_hip);
    visit("code_in_file", &TorchInstall::code_in_file);
    visit("code_targets", &TorchInstall::code_targets);
  }
};

/// Where the expansion of the rocm-sdk-devel wheel stands (facts/wheels.md 2.4).
enum class DevelState { absent, not_expanded, interrupted, expanded };

template <>
inline constexpr auto enum_names<DevelState> = std::to_array<EnumName<DevelState>>({
    {DevelState::absent, "absent"},
    {DevelState::not_expanded, "not-expanded"},
    {DevelState::interrupted, "interrupted"},
    {DevelState::expanded, "expanded"},
});

/// What the rocm-sdk wheels of an environment brought, beyond their records (facts/wheels.md 2.4, P6, P7).
struct SdkFiles {
  Fact<std::vector<std::string>> kpack_targets;    ///< gfx targets of .kpack files and .devel_links of the libraries
  Fact<bool> code_in_file;                         ///< rocBLAS of the libraries wheel has its code inside
  Fact<std::vector<std::string>> dangling;         ///< runtime libraries that are links to nothing
  Fact<std::vector<std::string>> copied;           ///< runtime libraries of devel that are no hard links to core's
  Fact<std::vector<std::string>> missing_bitcode;  ///< device bitcode that core has and devel lacks

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("kpack_targets", &SdkFiles::kpack_targets);
    visit("code_in_file", &SdkFiles::code_in_file);
    visit("dangling", &SdkFiles::dangling);
    visit("copied", &SdkFiles::copied);
    visit("missing_bitcode", &SdkFiles::missing_bitcode);
  }
};

/// The folder sageattention/ that an import gets.
struct SageInstall {
  std::string folder;
  Fact<std::vector<std::string>> home_pages;  ///< of every record of sageattention beside it; no credentials in them
  Fact<bool> masks_tail;                      ///< its Triton kernel sets scores past the last key to -inf (facts/sage.md 4)

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("folder", &SageInstall::folder);
    visit("home_pages", &SageInstall::home_pages);
    visit("masks_tail", &SageInstall::masks_tail);
  }
};

/// Sources of SageAttention, as from git.
struct SageSources {
  std::string folder;
  Fact<std::string> version;  ///< of setup.py; empty: it names none
  Fact<bool> knows_hip;       ///< setup.py speaks of ROCm: somebody's port

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("folder", &SageSources::folder);
    visit("version", &SageSources::version);
    visit("knows_hip", &SageSources::knows_hip);
  }
};

/// The folder triton/ that an import gets: what it compiles with, and how it looks for the HIP runtime, by its own
/// source (facts/wheels.md 2.7). Which of that a version has differs between the three distributions.
struct TritonInstall {
  std::string folder;
  Fact<std::string> version;  ///< __version__ of triton/__init__.py
  /// TRITON_LIBHIP_PATH may name libamdhip64.so.7; false: the name must end in ".so".
  Fact<bool> takes_numbered_name;
  Fact<bool> takes_sdk_first;       ///< the runtime of the rocm-sdk wheels, before whatever is loaded already
  Fact<bool> asks_hipconfig;        ///< HIP_PATH, `hipconfig --path` and ROCM_PATH are among the places
  Fact<bool> starts_linker;         ///< it runs an ld.lld program; false: it links by itself
  Fact<std::string> linker;         ///< the ld.lld that it would run; empty: it finds none
  Fact<std::vector<std::string>> bitcode;  ///< device libraries in backends/amd/lib: "ockl.bc", "ocml.bc"
  Fact<bool> has_headers;           ///< backends/amd/include/hip/hip_runtime.h is there

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("folder", &TritonInstall::folder);
    visit("version", &TritonInstall::version);
    visit("takes_numbered_name", &TritonInstall::takes_numbered_name);
    visit("takes_sdk_first", &TritonInstall::takes_sdk_first);
    visit("asks_hipconfig", &TritonInstall::asks_hipconfig);
    visit("starts_linker", &TritonInstall::starts_linker);
    visit("linker", &TritonInstall::linker);
    visit("bitcode", &TritonInstall::bitcode);
    visit("has_headers", &TritonInstall::has_headers);
  }
};

/// One Python environment as its files describe it. What is listed as in "packages" counts over all its sites.
struct PythonEnvironment {
  std::string prefix;
  std::string executable;  ///< the interpreter's path in this environment
  Fact<PythonFound> found;
  Fact<PythonKind> kind;
  Fact<std::string> version;               ///< "3.12"; with a "t" when free-threaded
  Fact<std::optional<std::string>> home;   ///< of pyvenv.cfg: the folder of the interpreter it was made with
  Fact<bool> interpreter_there;            ///< `executable` leads to a file
  Fact<std::vector<PythonSite>> sites;     ///< in the order of sys.path
  Fact<std::vector<PythonPackage>> packages;   ///< distributions of interest, in the order of the sites
  Fact<std::vector<std::string>> leftovers;    ///< "~orch..." folders that a broken uninstall of torch or triton left
  Fact<std::vector<TorchInstall>> torch;       ///< in the order of the sites: the first is imported
  Fact<std::vector<std::string>> sdk_folders;  ///< "<site>/_rocm_sdk_core" and the like
  Fact<DevelState> devel;
  SdkFiles sdk;
  Fact<std::vector<std::string>> sage_binaries;  ///< names of compiled modules in sageattention/
  Fact<std::vector<SageInstall>> sage;           ///< at most one
  Fact<std::vector<TritonInstall>> triton;       ///< at most one: the first by the sites

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("prefix", &PythonEnvironment::prefix);
    visit("executable", &PythonEnvironment::executable);
    visit("found", &PythonEnvironment::found);
    visit("kind", &PythonEnvironment::kind);
    visit("version", &PythonEnvironment::version);
    visit("home", &PythonEnvironment::home);
    visit("interpreter_there", &PythonEnvironment::interpreter_there);
    visit("sites", &PythonEnvironment::sites);
    visit("packages", &PythonEnvironment::packages);
    visit("leftovers", &PythonEnvironment::leftovers);
    visit("torch", &PythonEnvironment::torch);
    visit("sdk_folders", &PythonEnvironment::sdk_folders);
    visit("devel", &PythonEnvironment::devel);
    visit("sdk", &PythonEnvironment::sdk);
    visit("sage_binaries", &PythonEnvironment::sage_binaries);
    visit("sage", &PythonEnvironment::sage);
    visit("triton", &PythonEnvironment::triton);
  }
};

struct Python {
  /// The first is the one in use: the one that the user named, else the activated one, else the working folder's, else
  /// the one of PATH.
  Fact<std::vector<PythonEnvironment>> environments;
  Fact<std::vector<std::string>> comfyui;  ///< folders of ComfyUI: the working folder, or ComfyUI in it
  Fact<std::vector<SageSources>> sage_sources;  ///< the working folder, or SageAttention in it

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("environments", &Python::environments);
    visit("comfyui", &Python::comfyui);
    visit("sage_sources", &Python::sage_sources);
  }
};

}  // namespace sage
