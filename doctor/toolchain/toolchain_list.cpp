#include "doctor/toolchain/toolchain_list.hpp"

namespace sage {

ToolchainList make_toolchain_list(const Facts& facts, const GfxTables& tables, const std::string& target) {
  ToolchainList list;
  list.target = target.empty() ? target_to_build_for(facts) : target;
  list.target_source = !target.empty()       ? "--target"
                       : list.target.empty() ? "no AMD GPU whose target is known; choose one with --target"
                                             : "this machine's GPU";
  if (!facts.toolchains.compilers.known()) list.unknown = facts.toolchains.compilers.why_unknown().text;
  const Toolchain* for_kernels = best_toolchain(facts, tables, list.target, BuildPurpose::kernels);
  const Toolchain* for_extensions = best_toolchain(facts, tables, list.target, BuildPurpose::extensions);
  for (RankedToolchain& ranked : rank_toolchains(facts, tables, list.target, BuildPurpose::kernels)) {
    ToolchainRow row;
    row.compiler = ranked.compiler;
    row.kernels = std::move(ranked.verdict);
    row.hip_programs = verdict_of(*row.compiler, BuildPurpose::hip_programs, list.target, tables);
    row.extensions = verdict_of(*row.compiler, BuildPurpose::extensions, list.target, tables);
    row.chosen_for_kernels = row.compiler == for_kernels;
    row.chosen_for_extensions = row.compiler == for_extensions;
    list.rows.push_back(std::move(row));
  }
  if (facts.toolchains.torch_rocm_homes.known()) {
    for (const TorchRocmHome& home : *facts.toolchains.torch_rocm_homes) list.rocm_homes.push_back(&home);
  }
  if (facts.python.environments.known()) {
    for (const PythonEnvironment& environment : *facts.python.environments) {
      if (!environment.triton.known()) continue;
      for (const TritonInstall& triton : *environment.triton) list.tritons.push_back(&triton);
    }
  }
  return list;
}

}  // namespace sage
