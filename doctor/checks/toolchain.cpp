#include <algorithm>
#include <array>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/python_common.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/toolchain_rows.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/toolchain/choice.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

/// Newest LLVM among a release's own packages. Debian 12 was tried; the others are general knowledge and only choose
/// the wording of a command.
struct PackagedLlvm {
  std::string_view distribution;
  std::string_view release;
  std::uint32_t newest;
};

constexpr auto packaged_llvm = std::to_array<PackagedLlvm>(
    {{"debian", "12", 19}, {"debian", "13", 19}, {"ubuntu", "22.04", 15}, {"ubuntu", "24.04", 19}});

const PackagedLlvm* packaged_in(const Distribution& distribution) {
  for (const PackagedLlvm& row : packaged_llvm) {
    if (distribution.id.is(std::string(row.distribution)) && distribution.version_id.is(std::string(row.release))) {
      return &row;
    }
  }
  return nullptr;
}

std::string needed_llvm(const GfxTables& tables, const std::string& target) {
  const GfxTarget* row = tables.target(target);
  if (row == nullptr) return "";
  const std::string first = row->llvm_first.starts_with("<=") ? "15" : row->llvm_first;
  return version_below(first, "15") ? "15" : first;
}

bool made_for_gpus(const Toolchain& compiler) {
  return !compiler.kind.is(CompilerKind::clang) && !compiler.kind.is(CompilerKind::nvcc);
}

}  // namespace

std::vector<Remedy> compiler_remedies(const CheckInput& input, const std::string& target) {
  const Distribution& distribution = input.facts.platform.distribution;
  const std::string needed = needed_llvm(input.tables, target);
  const std::string enough = needed.empty() ? "" : " (LLVM " + needed + " or newer knows " + target + ")";
  const PackagedLlvm* packaged = packaged_in(distribution);
  std::vector<Remedy> remedies;
  if (packaged != nullptr && version_below(std::to_string(packaged->newest), needed)) {
    remedies.push_back({"The distribution's clang ends at LLVM " + std::to_string(packaged->newest) + ", and " + target +
                            " needs " + needed + ". The ROCm build of PyTorch from PyTorch's own index brings hipRTC, "
                            "which compiles kernels in memory; or take clang from apt.llvm.org.",
                        {},
                        {}});
    return remedies;
  }
  Remedy remedy{"For kernels: a clang with its linker from the distribution" + enough + "; no ROCm is needed around it.",
                {},
                {Need::sudo}};
  const std::string number = packaged == nullptr ? "" : "-" + std::to_string(packaged->newest);
  const std::string debian = "sudo apt install clang" + number + " lld" + number;
  const std::string command =
      command_for(package_family(distribution), {debian, "sudo dnf install clang lld", "sudo pacman -S --needed clang lld",
                                                 "sudo zypper install clang lld"});
  if (!command.empty()) remedy.commands = {command};
  remedies.push_back(std::move(remedy));
  return remedies;
}

std::optional<Finding> skip_without_compilers(const Facts& facts) {
  if (auto skip = skip_without_gpu(facts)) return skip;
  if (auto skip = skip_unless_known({{"toolchains.compilers", &facts.toolchains.compilers}})) return skip;
  for (const Toolchain& compiler : *facts.toolchains.compilers) {
    if (auto skip = skip_unless_known({{"toolchains.compilers.kind", &compiler.kind}})) return skip;
  }
  return std::nullopt;
}

std::string compiler_label(const Toolchain& compiler) {
  const std::string kind = compiler.kind.known() ? std::string(enum_name(*compiler.kind)) : "compiler";
  const bool plain = compiler.kind.is(CompilerKind::clang) && !compiler.rocm_version.known();
  if (plain) return kind + " " + compiler.clang_version.value_or("of unknown version");
  const char* product = compiler.kind.is(CompilerKind::nvcc) ? " of CUDA " : " of ROCm ";
  return kind + product + compiler.rocm_version.value_or("(version unknown)");
}

const TorchRocmHome* rocm_home_in_use(const Facts& facts) {
  if (!facts.toolchains.torch_rocm_homes.known()) return nullptr;
  for (const TorchRocmHome& home : *facts.toolchains.torch_rocm_homes) {
    if (home.torch_folder == torch_in_use(facts).folder) return &home;
  }
  return nullptr;
}

std::string sdk_root_in_use(const Facts& facts) {
  const PythonEnvironment& environment = environment_in_use(facts);
  const bool expanded = environment.devel.is(DevelState::expanded);
  for (const std::string& folder : environment.sdk_folders.value_or({})) {
    if (folder.ends_with(expanded ? "/_rocm_sdk_devel" : "/_rocm_sdk_core")) return folder;
  }
  return "";
}

std::vector<Finding> check_none_for_target(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_compilers(facts)) return {*skip};
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (auto skip = skip_unless_known({{"gpus.amd.target", &gpu.target}, {"gpus.amd.kind", &gpu.kind}})) return {*skip};
  }
  const std::string target = target_to_build_for(facts);
  const auto ranked = rank_toolchains(facts, input.tables, target, BuildPurpose::kernels);
  const std::string verify = "sage-doctor toolchains --target " + target;
  if (!ranked.empty() && ranked.front().verdict.can == CanBuild::yes) {
    const Toolchain& best = *ranked.front().compiler;
    Finding finding = pass(compiler_label(best) + " builds kernels for " + target);
    finding.evidence = {{best.path, ranked.front().verdict.reason}};
    return {finding};
  }
  if (!ranked.empty() && ranked.front().verdict.can == CanBuild::untried) {
    Finding finding = info("whether " + compiler_label(*ranked.front().compiler) + " builds for " + target +
                           " was not tried");
    finding.evidence = {{ranked.front().compiler->path, ranked.front().verdict.reason}};
    finding.verify = "sage-doctor check --deep";
    return {finding};
  }
  const bool set_up = std::any_of(ranked.begin(), ranked.end(),
                                  [](const RankedToolchain& one) { return made_for_gpus(*one.compiler); });
  Finding finding = set_up ? warn("no compiler here builds for " + target)
                           : info("no compiler for " + target + " is installed; PyTorch itself needs none");
  for (const RankedToolchain& one : ranked) finding.evidence.push_back({one.compiler->path, one.verdict.reason});
  if (set_up) {
    finding.cause = "Compiler, device libraries and GPU are of different age.";
    finding.confidence = Confidence::likely;
  }
  finding.remedies = compiler_remedies(input, target);
  finding.verify = verify;
  return {finding};
}

std::vector<Check> toolchain_checks() {
  const auto row = [](std::string_view id, std::string_view title, std::vector<std::string_view> depends,
                      CheckFunction run) {
    return Check{id, title, Topic::toolchain, std::move(depends), run};
  };
  return {
      row("toolchain.none-for-target", "A compiler for the GPU", {"gpu.present"}, check_none_for_target),
      row("toolchain.rocm-home", "What PyTorch takes for ROCM_HOME", {"python.torch-flavour"}, check_rocm_home),
      row("toolchain.extension-headers", "Headers for PyTorch extensions", {"python.torch-flavour"},
          check_extension_headers),
      row("toolchain.stray-cuda", "No CUDA toolkit in the way", {"python.torch-flavour"}, check_stray_cuda),
      row("toolchain.poisoned", "No variable leads the compiler astray", {"gpu.present"}, check_poisoned),
      row("toolchain.trampoline-shadows", "hipcc on PATH is the one meant", {"gpu.present"},
          check_trampoline_shadows),
      row("toolchain.cxx-headers", "C++ headers that device code can include", {"gpu.present"}, check_cxx_headers),
      row("toolchain.torch-headers", "PyTorch's headers and the compiler's HIP", {"python.torch-flavour"},
          check_torch_headers),
      row("toolchain.build-tools", "Host compiler and build tools", {"python.torch-flavour"}, check_build_tools),
  };
}

}  // namespace sage
