#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/code_object/code_object.hpp"
#include "probes/base/enum_names.hpp"
#include "probes/host/host.hpp"

namespace sage {

enum class InspectedKind { library, program, object, code_object, cubin, bundle, kpack };

template <>
inline constexpr auto enum_names<InspectedKind> = std::to_array<EnumName<InspectedKind>>({
    {InspectedKind::library, "library"},
    {InspectedKind::program, "program"},
    {InspectedKind::object, "object"},
    {InspectedKind::code_object, "code-object"},
    {InspectedKind::cubin, "cubin"},
    {InspectedKind::bundle, "bundle"},
    {InspectedKind::kpack, "kpack"},
});

struct InspectedKernel {
  code_object::Kernel kernel;
  std::vector<std::string> contradictions;  ///< where metadata and descriptor disagree, a sentence each
};

/// Code for one GPU target: an AMDGPU ELF file, alone or in a bundle.
struct InspectedObject {
  std::string bundle_id;     ///< as its bundle names it; empty outside of a bundle
  std::size_t bundle = 0;    ///< number of its bundle in the file
  std::uint64_t offset = 0;  ///< in the file; of a compressed bundle, in what it decompresses to
  std::uint64_t size = 0;
  std::string target;                                   ///< by its own header; by its bundle where that was not read
  unsigned version = 0;                                 ///< code object version; 0 where the header was not read
  std::optional<std::vector<InspectedKernel>> kernels;  ///< nullopt: not read
  std::string not_read;                                 ///< why there are no kernels
  std::vector<std::string> contradictions;              ///< of the object as a whole
};

/// What was found of offload bundles.
struct InspectedBundles {
  std::size_t count = 0;
  bool in_file = true;      ///< false: a section without bytes (NOBITS)
  bool compressed = false;  ///< some are
  std::string incomplete;   ///< why there may be more than what is listed
};

/// Version names of one library that matter: of each family ("GLIBC", "GLIBCXX") the highest.
struct HighestNeed {
  std::string library;
  std::vector<std::string> versions;
};

/// What `sage-doctor inspect FILE` found. Texts from the file are as they are there: renderers make them harmless.
struct Inspection {
  std::string path;
  std::uint64_t size = 0;
  InspectedKind kind = InspectedKind::library;
  std::optional<ElfFacts> elf;  ///< of libraries, programs and objects for a CPU
  std::vector<HighestNeed> highest_needs;
  std::optional<std::vector<std::string>> exports;  ///< only when asked
  std::optional<InspectedBundles> bundles;          ///< of bundles, and of ELF files that have a .hip_fatbin section
  std::vector<std::string> targets;                 ///< GPU targets that the file carries code for, sorted, each once
  std::vector<InspectedObject> objects;
  std::vector<std::string> cubin_kernels;  ///< names; registers come from NVIDIA's own tools
  std::vector<std::string> notes;          ///< sentences: what was left out and why
};

}  // namespace sage
