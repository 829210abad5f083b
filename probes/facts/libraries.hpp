#pragma once

#include <array>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/fact.hpp"
#include "probes/facts/rocm.hpp"

namespace sage {

/// The libraries of which a process must have one copy only (facts/wheels.md 2.9).
enum class RuntimeLibrary { amdhip64, hsa_runtime64, amd_comgr, hiprtc, rocdxg };

template <>
inline constexpr auto enum_names<RuntimeLibrary> = std::to_array<EnumName<RuntimeLibrary>>({
    {RuntimeLibrary::amdhip64, "libamdhip64"},
    {RuntimeLibrary::hsa_runtime64, "libhsa-runtime64"},
    {RuntimeLibrary::amd_comgr, "libamd_comgr"},
    {RuntimeLibrary::hiprtc, "libhiprtc"},
    {RuntimeLibrary::rocdxg, "librocdxg"},
});

/// One file of a runtime library. Paths with the same inode, or the same build-id, are one copy.
struct LibraryCopy {
  std::string path;                      ///< the first one found
  Fact<RuntimeLibrary> library;
  Fact<std::vector<std::string>> other_paths;  ///< further names of the same file, or files with the same build-id
  Fact<LibraryOrigin> origin;
  Fact<std::string> soname;              ///< "libamdhip64.so.7"
  Fact<std::string> build_id;            ///< hex; empty: the file has none
  Fact<std::string> rocm_version;        ///< of the tree or wheel it belongs to: "7.2.0"
  Fact<std::string> version_source;      ///< the file that said so
  Fact<bool> in_loader_cache;            ///< ld.so.cache leads to it
  Fact<bool> in_library_path;            ///< LD_LIBRARY_PATH leads to it

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("path", &LibraryCopy::path);
    visit("library", &LibraryCopy::library);
    visit("other_paths", &LibraryCopy::other_paths);
    visit("origin", &LibraryCopy::origin);
    visit("soname", &LibraryCopy::soname);
    visit("build_id", &LibraryCopy::build_id);
    visit("rocm_version", &LibraryCopy::rocm_version);
    visit("version_source", &LibraryCopy::version_source);
    visit("in_loader_cache", &LibraryCopy::in_loader_cache);
    visit("in_library_path", &LibraryCopy::in_library_path);
  }
};

/// What a process does before it has its runtime.
enum class LoadScenario {
  program,
  torch,
  torch_then_extension,
  extension,
  extension_then_torch,
  triton,     ///< torch, then what Triton opens (facts/wheels.md 2.7)
  bare_name,  ///< torch, then dlopen of "libamdhip64.so" and "libhiprtc.so" as ctypes and older Tritons do
};

template <>
inline constexpr auto enum_names<LoadScenario> = std::to_array<EnumName<LoadScenario>>({
    {LoadScenario::program, "program"},
    {LoadScenario::torch, "torch"},
    {LoadScenario::torch_then_extension, "torch-then-extension"},
    {LoadScenario::extension, "extension"},
    {LoadScenario::extension_then_torch, "extension-then-torch"},
    {LoadScenario::triton, "triton"},
    {LoadScenario::bare_name, "bare-name"},
});

/// A copy that a process would load, and the loader's rule that leads there.
struct LoadedCopy {
  std::string path;  ///< as in the list of copies, `path` or one of `other_paths`
  Fact<RuntimeLibrary> library;
  Fact<std::string> requester;  ///< the object that wants it, a path; empty: the program itself
  Fact<std::string> rule;       ///< "DT_RPATH of torch/lib/libtorch_hip.so", "ld.so.cache", "already loaded by SONAME" ...

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("path", &LoadedCopy::path);
    visit("library", &LoadedCopy::library);
    visit("requester", &LoadedCopy::requester);
    visit("rule", &LoadedCopy::rule);
  }
};

/// A symbol version that an object of the process wants of a library, and that the copy it gets does not have.
struct UnmetVersion {
  std::string object;
  Fact<std::string> library;  ///< the file it gets: "/conda/lib/libstdc++.so.6"
  Fact<std::string> version;  ///< "GLIBCXX_3.4.30"
  Fact<std::string> served_by;  ///< the copy behind ld.so.cache, where that has the version; empty: no such copy

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("object", &UnmetVersion::object);
    visit("library", &UnmetVersion::library);
    visit("version", &UnmetVersion::version);
    visit("served_by", &UnmetVersion::served_by);
  }
};

/// By the loader's rules, without running anything: which runtime copies a process of this kind ends up with.
struct LoadPrediction {
  Fact<LoadScenario> scenario;
  std::string subject;  ///< the file that starts it: torch's library, the extension; of a plain program the SONAME it needs
  Fact<bool> example;   ///< no such program or extension was found: what one would get
  Fact<std::vector<LoadedCopy>> copies;     ///< in load order; two of one library are two runtimes in one process
  Fact<std::vector<LoadedCopy>> requests;   ///< every request for a runtime library and the copy that it gets
  Fact<std::vector<std::string>> missing;   ///< needed names that nothing leads to
  Fact<std::vector<UnmetVersion>> unmet_versions;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("scenario", &LoadPrediction::scenario);
    visit("subject", &LoadPrediction::subject);
    visit("example", &LoadPrediction::example);
    visit("copies", &LoadPrediction::copies);
    visit("requests", &LoadPrediction::requests);
    visit("missing", &LoadPrediction::missing);
    visit("unmet_versions", &LoadPrediction::unmet_versions);
  }
};

/// A running process that maps one of the libraries; looked at with --deep only.
struct MappingProcess {
  std::string name;  ///< of /proc/<pid>/comm
  Fact<std::vector<std::string>> paths;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("name", &MappingProcess::name);
    visit("paths", &MappingProcess::paths);
  }
};

struct Libraries {
  Fact<std::vector<LibraryCopy>> copies;
  Fact<std::vector<LoadPrediction>> predictions;
  Fact<std::vector<MappingProcess>> processes;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("copies", &Libraries::copies);
    visit("predictions", &Libraries::predictions);
    visit("processes", &Libraries::processes);
  }
};

}  // namespace sage
