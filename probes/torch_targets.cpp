// For which GPUs does a torch have code? Three kinds of code decide, each with a list of its own (facts/wheels.md 2.12):
// torch's own kernels, in the .hip_fatbin of libtorch_hip.so or, in builds that are split by target, in torch/.kpack;
// the kernels of rocBLAS and hipBLASLt, one or more files a target; the attention kernels of AOTriton, one folder a
// family of targets. Names are enough for the last two; a library of half a gigabyte costs a few reads.

#include "probes/torch_targets.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

using List = Fact<std::vector<std::string>>;

List targets_in_folder(const Host& host, const std::string& folder) {
  const auto names = host.list_folder(folder);
  if (!names) return List::unknown(names.error());
  return targets_in_names(*names);
}

List targets_if_there(const Host& host, const std::string& folder) {
  const auto names = list_if_there(host, folder);
  if (!names) return List::unknown(names.error());
  return targets_in_names(*names);
}

bool names_sdk(const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [](const std::string& folder) { return contains(folder, "_rocm_sdk_"); });
}

/// The loader goes by the RPATH, whatever else lies around.
void decide_family_by_rpath(const std::string& library, TorchInstall& torch) {
  if (!names_sdk(*torch.rpath) && !names_sdk(*torch.runpath)) return;
  if (!torch.flavour.is(TorchFlavour::rocm) || torch.family.is(TorchFamily::thin)) return;
  std::vector<std::string> others;
  if (torch.family.is(TorchFamily::fat)) others.push_back(*torch.family_evidence);
  torch.family = TorchFamily::thin;
  torch.family_evidence = library + ": its RPATH leads to _rocm_sdk_core";
  torch.other_families = std::move(others);
}

void read_library(const Host& host, TorchInstall& torch) {
  const std::string library = torch.folder + "/lib/libtorch_hip.so";
  ElfQuery query;
  query.device_code = true;
  const auto elf = host.elf(library, query);
  if (!elf) {
    torch.rpath = torch.runpath = torch.needed_hip = torch.code_targets = List::unknown(elf.error());
    torch.code_in_file = Fact<bool>::unknown(elf.error());
    return;
  }
  torch.rpath = elf->rpath;
  torch.runpath = elf->runpath;
  std::vector<std::string> needed;
  for (const std::string& name : elf->needed) {
    if (name.starts_with("libamdhip64.so")) needed.push_back(name);
  }
  torch.needed_hip = std::move(needed);
  decide_family_by_rpath(library, torch);
  if (!elf->device_code) {
    torch.code_in_file = Fact<bool>::unknown(library + ": no section .hip_fatbin");
    torch.code_targets = List::unknown(library + ": no section .hip_fatbin");
    return;
  }
  torch.code_in_file = elf->device_code->in_file;
  torch.code_targets = elf->device_code->complete
                           ? List(elf->device_code->targets)
                           : List::unknown(library + ": more code objects than are ever read");
}

}  // namespace

std::vector<std::string> targets_in_names(const std::vector<std::string>& names) {
  std::set<std::string> targets;
  for (const std::string& name : names) {
    for (std::size_t at = name.find("gfx"); at != std::string::npos; at = name.find("gfx", at + 3)) {
      const std::size_t end = std::min(name.find_first_not_of("0123456789abcdef", at + 3), name.size());
      if (end - at >= 6 && end - at <= 7) targets.insert(name.substr(at, end - at));
    }
  }
  return {targets.begin(), targets.end()};
}

void read_torch_targets(const Host& host, const std::string& math_folder, TorchInstall& torch) {
  read_library(host, torch);
  torch.rocblas_targets = torch.family.is(TorchFamily::fat)
                              ? targets_in_folder(host, torch.folder + "/lib/rocblas/library")
                              : List::unknown("not known to be a fat wheel");
  torch.hipblaslt_targets = targets_if_there(host, math_folder + "/hipblaslt/library");
  torch.kpack_targets = targets_if_there(host, torch.folder + "/.kpack");
  const auto images = list_if_there(host, torch.folder + "/lib/aotriton.images");
  torch.aotriton_images = images ? List(*images) : List::unknown(images.error());
}

}  // namespace sage
