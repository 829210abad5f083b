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
enum class PythonFound { virtual_env, conda_prefix, working_folder, path };

template <>
inline constexpr auto enum_names<PythonFound> = std::to_array<EnumName<PythonFound>>({
    {PythonFound::virtual_env, "VIRTUAL_ENV"},
    {PythonFound::conda_prefix, "CONDA_PREFIX"},
    {PythonFound::working_folder, "working-folder"},
    {PythonFound::path, "PATH"},
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
/// wheels beside it, `lightweight` (and a source build) needs a ROCm of the system.
enum class TorchFamily { fat, thin, lightweight };

template <>
inline constexpr auto enum_names<TorchFamily> = std::to_array<EnumName<TorchFamily>>({
    {TorchFamily::fat, "fat"},
    {TorchFamily::thin, "thin"},
    {TorchFamily::lightweight, "lightweight"},
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
  Fact<std::vector<std::string>> rocblas_targets;  ///< gfx targets in file names of torch/lib/rocblas/library
  Fact<bool> editable;                           ///< a development install: the files lie in another tree

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
    visit("rocblas_targets", &TorchInstall::rocblas_targets);
    visit("editable", &TorchInstall::editable);
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
  Fact<std::vector<std::string>> sage_binaries;  ///< names of compiled modules in sageattention/

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
    visit("sage_binaries", &PythonEnvironment::sage_binaries);
  }
};

struct Python {
  /// The first is the one in use: the activated one, else the working folder's, else the one of PATH.
  Fact<std::vector<PythonEnvironment>> environments;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("environments", &Python::environments);
  }
};

}  // namespace sage
