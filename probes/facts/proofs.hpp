#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/fact.hpp"

namespace sage {

/// What a compiler was given to prove itself.
enum class ProofSource { freestanding, with_headers };

template <>
inline constexpr auto enum_names<ProofSource> = std::to_array<EnumName<ProofSource>>({
    {ProofSource::freestanding, "freestanding"},
    {ProofSource::with_headers, "with-headers"},
});

/// One compilation that was tried, with --deep only.
struct CompileProof {
  std::string compiler;  ///< Toolchain::path
  std::string target;    ///< "gfx1201"
  Fact<ProofSource> source;
  Fact<bool> built;                ///< a code object for `target` with the kernel in it came out
  Fact<std::string> object_target; ///< as read back from the code object; empty: none came out
  Fact<std::string> outcome;       ///< "exit status 1", "killed by SIGABRT", "deadline of 60 s passed", "ok"
  Fact<std::string> message;       ///< the line of the compiler's output that says why; empty: none
  Fact<std::string> command;       ///< what was run, ready to paste; of a library what was called

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("compiler", &CompileProof::compiler);
    visit("target", &CompileProof::target);
    visit("source", &CompileProof::source);
    visit("built", &CompileProof::built);
    visit("object_target", &CompileProof::object_target);
    visit("outcome", &CompileProof::outcome);
    visit("message", &CompileProof::message);
    visit("command", &CompileProof::command);
  }
};

/// One HIP runtime copy that was loaded in a child, with --deep only.
struct RuntimeProof {
  std::string library;             ///< LibraryCopy::path
  Fact<bool> loaded;
  Fact<std::string> outcome;       ///< as of CompileProof
  Fact<std::string> message;       ///< the loader's or the runtime's own words; empty: none
  Fact<std::string> version;       ///< hipRuntimeGetVersion as "7.2.26015"
  Fact<std::uint32_t> devices;
  Fact<std::vector<std::string>> device_names;    ///< with the target: "AMD Radeon RX 9070 XT (gfx1201)"
  Fact<bool> kernel_ran;           ///< a kernel was launched and its result came back right; unknown: no device or no object

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("library", &RuntimeProof::library);
    visit("loaded", &RuntimeProof::loaded);
    visit("outcome", &RuntimeProof::outcome);
    visit("message", &RuntimeProof::message);
    visit("version", &RuntimeProof::version);
    visit("devices", &RuntimeProof::devices);
    visit("device_names", &RuntimeProof::device_names);
    visit("kernel_ran", &RuntimeProof::kernel_ran);
  }
};

/// What the environment's own Python answered when it was run, with --deep only.
struct PythonProof {
  std::string executable;
  Fact<bool> imported;             ///< import torch came back
  Fact<std::string> outcome;       ///< as of CompileProof
  Fact<std::string> message;       ///< last line of a traceback; empty: none
  Fact<std::string> torch_version;
  Fact<std::string> hip;           ///< torch.version.hip; empty: None
  Fact<std::uint32_t> devices;     ///< torch.cuda.device_count()
  Fact<std::vector<std::string>> device_names;
  Fact<bool> kernel_ran;           ///< a small product on the GPU came back right
  Fact<std::string> rocm_home;     ///< torch.utils.cpp_extension.ROCM_HOME; empty: None
  Fact<std::vector<std::string>> mapped;  ///< runtime libraries in /proc/self/maps after the import

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("executable", &PythonProof::executable);
    visit("imported", &PythonProof::imported);
    visit("outcome", &PythonProof::outcome);
    visit("message", &PythonProof::message);
    visit("torch_version", &PythonProof::torch_version);
    visit("hip", &PythonProof::hip);
    visit("devices", &PythonProof::devices);
    visit("device_names", &PythonProof::device_names);
    visit("kernel_ran", &PythonProof::kernel_ran);
    visit("rocm_home", &PythonProof::rocm_home);
    visit("mapped", &PythonProof::mapped);
  }
};

/// What was proved by running it. Without --deep all of it is unknown.
struct Proofs {
  Fact<std::vector<CompileProof>> compilations;
  Fact<std::vector<RuntimeProof>> runtimes;
  Fact<std::vector<PythonProof>> pythons;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("compilations", &Proofs::compilations);
    visit("runtimes", &Proofs::runtimes);
    visit("pythons", &Proofs::pythons);
  }
};

}  // namespace sage
