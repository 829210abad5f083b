// Will this compiler build code for that GPU? Three limits of different age meet here (facts/article.md 2): the clang
// must know the target's name, the device libraries must have a file for it, and the headers must be there. A clang of
// the distribution may know a target for which its ROCm packages have no device library; freestanding code then builds
// and HIP code does not. The libraries hipRTC and comgr have all of that inside and say only which ROCm they belong to.

#include "doctor/toolchain/verdict.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

/// The first clang that takes --offload-device-only and --no-gpu-bundle-output as our flags have them; tried: 14 does
/// not, 15 does.
constexpr std::uint32_t oldest_clang = 15;

/// The ROCm releases whose device libraries the table's column rocm_absent_in comes from: what one lacks, the next has.
constexpr auto examined_rocm = std::to_array<std::string_view>({"5.2.3", "6.0", "7.0.2", "7.2.4"});

Verdict yes(std::string reason, Confidence confidence = Confidence::certain) {
  return {CanBuild::yes, std::move(reason), confidence};
}

Verdict no(std::string reason, Confidence confidence = Confidence::certain) {
  return {CanBuild::no, std::move(reason), confidence};
}

Verdict untried(std::string reason) {
  return {CanBuild::untried, std::move(reason), Confidence::possible};
}

bool is_library(const Toolchain& compiler) {
  return compiler.kind.is(CompilerKind::hiprtc) || compiler.kind.is(CompilerKind::comgr);
}

/// AMD's own clang: its number is that of the LLVM it branched off, and it may know targets earlier.
bool is_amd_clang(const Toolchain& compiler) {
  return compiler.origin.is(ToolchainOrigin::rocm_root) || compiler.origin.is(ToolchainOrigin::rocm_sdk_wheel);
}

bool is_upstream_clang(const Toolchain& compiler) {
  return compiler.origin.known() && !is_amd_clang(compiler);
}

bool has_device_library(const Toolchain& compiler, std::string_view target) {
  if (!compiler.device_targets.known()) return false;
  const auto& targets = *compiler.device_targets;
  return std::find(targets.begin(), targets.end(), target) != targets.end();
}

std::string name_of(const Toolchain& compiler) {
  if (is_library(compiler)) {
    return std::string(enum_name(*compiler.kind)) + " of ROCm " + compiler.rocm_version.value_or("?");
  }
  return "clang " + compiler.clang_version.value_or("?");
}

std::optional<std::uint32_t> major_of(const std::string& version) {
  const auto parsed = parse_version(version);
  if (!parsed) return std::nullopt;
  return parsed->parts.front();
}

/// The LLVM that a target came with; "<=14" counts as 14.
std::optional<std::uint32_t> first_llvm(const GfxTarget& target) {
  return major_of(target.llvm_first.starts_with("<=") ? target.llvm_first.substr(2) : target.llvm_first);
}

/// The oldest ROCm release that surely has the target: the examined one after the last that lacks it, or AMD's first
/// official one.
std::string rocm_that_has(const GfxTarget& target) {
  std::string first(examined_rocm.front());
  if (!target.rocm_absent_in.empty()) {
    const auto lacks = std::find(examined_rocm.begin(), examined_rocm.end(), target.rocm_absent_in);
    if (lacks == examined_rocm.end() || lacks + 1 == examined_rocm.end()) return target.rocm_first_official;
    first = *(lacks + 1);
  }
  if (target.rocm_first_official.empty()) return first;
  return version_below(target.rocm_first_official, first) ? target.rocm_first_official : first;
}

/// By the LLVM release alone.
Verdict by_llvm(const Toolchain& compiler, std::uint32_t llvm, const GfxTarget& target) {
  const auto first = first_llvm(target);
  const std::string name = name_of(compiler);
  if (!first) return untried("it is not established which LLVM brought " + target.name);
  if (llvm < *first) {
    return no(name + " does not know " + target.name + ", which came with LLVM " + std::to_string(*first),
              is_amd_clang(compiler) ? Confidence::likely : Confidence::certain);
  }
  const bool sure = llvm > *first || (target.llvm_first_exact && is_upstream_clang(compiler));
  return sure ? yes(name + " knows " + target.name) : untried(target.name + " came about LLVM " + target.llvm_first);
}

Verdict program_knows(const Toolchain& compiler, const std::string& target, const GfxTarget* row) {
  if (!compiler.clang_version.known()) {
    return untried("its version is unknown: " + compiler.clang_version.why_unknown().text);
  }
  const auto llvm = major_of(*compiler.clang_version);
  if (!llvm) return untried("\"" + *compiler.clang_version + "\" is no version of clang");
  if (*llvm < oldest_clang) {
    return no(name_of(compiler) + " is too old for our flags, which need " + std::to_string(oldest_clang));
  }
  // AMD ships a device library only for what its compiler of the same tree can build.
  if (is_amd_clang(compiler) && has_device_library(compiler, target)) {
    return yes(name_of(compiler) + " has the device library of " + target);
  }
  if (row == nullptr) return untried(target + " is not in the tables");
  return by_llvm(compiler, *llvm, *row);
}

Verdict library_knows(const Toolchain& compiler, const std::string& target, const GfxTarget* row) {
  if (row == nullptr) return untried(target + " is not in the tables");
  const std::string name = name_of(compiler);
  if (compiler.rocm_version.known()) {
    const std::string& rocm = *compiler.rocm_version;
    if (!row->rocm_absent_in.empty() && !version_below(row->rocm_absent_in, rocm)) {
      return no(name + " does not know " + target, Confidence::likely);
    }
    const std::string has = rocm_that_has(*row);
    if (!has.empty() && !version_below(rocm, has)) {
      return yes(name + " has all it needs for " + target + " inside", Confidence::likely);
    }
    return untried("it is not established whether " + name + " knows " + target);
  }
  // Its list of targets may lag behind its LLVM: comgr 2.4 is made of LLVM 15, which knows gfx1100, and has no gfx1100.
  const auto llvm = compiler.clang_version.known() ? major_of(*compiler.clang_version) : std::nullopt;
  if (!llvm) return untried("neither its ROCm nor its LLVM release is known");
  Verdict verdict = by_llvm(compiler, *llvm, *row);
  if (verdict.can == CanBuild::yes) return untried("its LLVM knows " + target + "; whether it does is not known");
  return verdict;
}

Verdict for_nvidia(const Toolchain& compiler) {
  if (compiler.kind.is(CompilerKind::nvcc)) return yes("nvcc builds for NVIDIA GPUs", Confidence::likely);
  return compiler.kind.is(CompilerKind::clang) ? untried("clang needs a CUDA toolkit to build for NVIDIA GPUs")
                                               : no("it builds for AMD GPUs only");
}

Verdict kernels_verdict(const Toolchain& compiler, const std::string& target, const GfxTables& tables) {
  if (!compiler.kind.known()) return untried(compiler.kind.why_unknown().text);
  if (target.starts_with("sm_")) return for_nvidia(compiler);
  if (compiler.kind.is(CompilerKind::nvcc)) return no("nvcc builds for NVIDIA GPUs only");
  const GfxTarget* row = tables.target(target);
  if (is_library(compiler)) return library_knows(compiler, target, row);
  Verdict verdict = program_knows(compiler, target, row);
  if (verdict.can != CanBuild::yes) return verdict;
  if (!compiler.linker.known()) return untried(compiler.linker.why_unknown().text);
  if (!compiler.linker->empty()) return verdict;
  return no("no lld beside it or in PATH, which links code objects", Confidence::likely);
}

/// What HIP code needs beyond a compiler that knows the target; nullopt when all of it is there.
std::optional<Verdict> missing_for_hip(const Toolchain& compiler, const std::string& target) {
  if (is_library(compiler)) return no("a library: it is no program that a build could start");
  for (const FactBase* fact : {static_cast<const FactBase*>(&compiler.device_libraries),
                               static_cast<const FactBase*>(&compiler.device_targets),
                               static_cast<const FactBase*>(&compiler.hip_headers),
                               static_cast<const FactBase*>(&compiler.bundler)}) {
    if (!fact->known()) return untried(fact->why_unknown().text);
  }
  if (compiler.device_libraries->empty()) return no("it finds no device libraries (ocml.bc, ockl.bc)");
  if (!has_device_library(compiler, target)) {
    return no("cannot find ROCm device library for " + target + " in " + *compiler.device_libraries);
  }
  if (compiler.hip_headers->empty()) return no("it finds no hip/hip_runtime.h");
  if (compiler.bundler->empty()) {
    return no("no clang-offload-bundler beside it or in PATH", Confidence::likely);
  }
  return std::nullopt;
}

/// The headers that PyTorch's own include (facts/bugs.md B26, facts/wheels.md 2.10).
constexpr auto extension_headers = std::to_array<std::string_view>({"thrust", "rocprim", "hipblas"});

std::optional<Verdict> missing_for_extensions(const Toolchain& compiler) {
  if (!compiler.headers.known()) return untried(compiler.headers.why_unknown().text);
  const auto& headers = *compiler.headers;
  std::vector<std::string> missing;
  for (const std::string_view name : extension_headers) {
    if (std::find(headers.begin(), headers.end(), name) == headers.end()) missing.emplace_back(name);
  }
  if (missing.empty()) return std::nullopt;
  return no("the headers of " + join(missing, ", ") + " are not in " + *compiler.hip_headers);
}

}  // namespace

Verdict verdict_of(const Toolchain& compiler, BuildPurpose purpose, std::string_view target, const GfxTables& tables) {
  const std::string name(target);
  Verdict verdict = kernels_verdict(compiler, name, tables);
  const bool amd = !name.starts_with("sm_");
  if (verdict.can == CanBuild::no || purpose == BuildPurpose::kernels || !amd) return verdict;
  if (auto missing = missing_for_hip(compiler, name)) return *missing;
  if (purpose == BuildPurpose::extensions) {
    if (auto missing = missing_for_extensions(compiler)) return *missing;
  }
  return verdict;
}

}  // namespace sage
