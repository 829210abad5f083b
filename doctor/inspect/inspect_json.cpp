#include "doctor/inspect/inspect_json.hpp"

#include <nlohmann/json.hpp>

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

Json elf_to_json(const Inspection& found) {
  if (!found.elf) return nullptr;
  const ElfFacts& elf = *found.elf;
  Json needs = Json::array();
  for (std::size_t i = 0; i < elf.version_needs.size(); ++i) {
    needs.push_back({{"library", elf.version_needs[i].library},
                     {"versions", elf.version_needs[i].versions},
                     {"highest", found.highest_needs[i].versions}});
  }
  return {{"bits", elf.bits},
          {"machine", elf.machine},
          {"soname", elf.soname},
          {"needed", elf.needed},
          {"rpath", elf.rpath},
          {"runpath", elf.runpath},
          {"build_id", elf.build_id},
          {"version_needs", needs},
          {"version_definitions", elf.version_definitions},
          {"exports", found.exports ? Json(*found.exports) : Json(nullptr)}};
}

Json bundles_to_json(const std::optional<InspectedBundles>& bundles) {
  if (!bundles) return nullptr;
  return {{"in_file", bundles->in_file},
          {"bundles", bundles->count},
          {"compressed", bundles->compressed},
          {"complete", bundles->incomplete.empty()},
          {"incomplete", bundles->incomplete}};
}

Json kernel_to_json(const InspectedKernel& inspected) {
  const code_object::Kernel& kernel = inspected.kernel;
  const code_object::KernelMetadata& data = kernel.metadata;
  return {{"name", data.name},
          {"vgprs", data.vgpr_count},
          {"agprs", data.agpr_count},
          {"sgprs", data.sgpr_count},
          {"vgpr_spills", data.vgpr_spill_count},
          {"sgpr_spills", data.sgpr_spill_count},
          {"lds_bytes", data.lds_bytes},
          {"scratch_bytes_per_lane", data.scratch_bytes_per_lane},
          {"kernarg_bytes", data.kernarg_bytes},
          {"wavefront_size", data.wavefront_size},
          {"max_workgroup_size", data.max_workgroup_size},
          {"dynamic_stack", data.dynamic_stack},
          {"code_bytes", kernel.code_size},
          {"contradictions", inspected.contradictions}};
}

Json object_to_json(const InspectedObject& object) {
  Json kernels = nullptr;
  if (object.kernels) {
    kernels = Json::array();
    for (const InspectedKernel& kernel : *object.kernels) kernels.push_back(kernel_to_json(kernel));
  }
  return {{"target", object.target},
          {"bundle_id", object.bundle_id},
          {"bundle", object.bundle},
          {"offset", object.offset},
          {"bytes", object.size},
          {"code_object_version", object.version == 0 ? Json(nullptr) : Json(object.version)},
          {"kernels", kernels},
          {"not_read", object.not_read},
          {"contradictions", object.contradictions}};
}

}  // namespace

std::string inspect_json(const Inspection& inspection, std::string_view tool_version) {
  Json objects = Json::array();
  for (const InspectedObject& object : inspection.objects) objects.push_back(object_to_json(object));
  const Json report = {{"inspect_version", inspect_version},
                       {"tool_version", tool_version},
                       {"file", inspection.path},
                       {"kind", enum_name(inspection.kind)},
                       {"bytes", inspection.size},
                       {"elf", elf_to_json(inspection)},
                       {"targets", inspection.targets},
                       {"device_code", bundles_to_json(inspection.bundles)},
                       {"code_objects", objects},
                       {"cubin_kernels", inspection.cubin_kernels},
                       {"notes", inspection.notes}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sage
