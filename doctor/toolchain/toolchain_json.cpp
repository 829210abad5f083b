#include <nlohmann/json.hpp>

#include "doctor/report/redacted_json.hpp"
#include "doctor/toolchain/toolchain_list.hpp"

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json known_or_null(const Fact<T>& fact) {
  return fact.known() ? Json(*fact) : Json(nullptr);
}

template <class Enum>
Json name_or_null(const Fact<Enum>& fact) {
  return fact.known() ? Json(enum_name(*fact)) : Json(nullptr);
}

Json verdict_to_json(const Verdict& verdict) {
  return {{"can", enum_name(verdict.can)}, {"reason", verdict.reason}, {"confidence", enum_name(verdict.confidence)}};
}

Json row_to_json(const ToolchainRow& row) {
  const Toolchain& compiler = *row.compiler;
  return {{"path", compiler.path},
          {"kind", name_or_null(compiler.kind)},
          {"origin", name_or_null(compiler.origin)},
          {"root", known_or_null(compiler.root)},
          {"rocm_version", known_or_null(compiler.rocm_version)},
          {"clang_version", known_or_null(compiler.clang_version)},
          {"device_libraries", known_or_null(compiler.device_libraries)},
          {"device_targets", known_or_null(compiler.device_targets)},
          {"hip_headers", known_or_null(compiler.hip_headers)},
          {"headers", known_or_null(compiler.headers)},
          {"linker", known_or_null(compiler.linker)},
          {"bundler", known_or_null(compiler.bundler)},
          {"on_path", known_or_null(compiler.on_path)},
          {"trampoline", known_or_null(compiler.trampoline)},
          {"kernels", verdict_to_json(row.kernels)},
          {"hip_programs", verdict_to_json(row.hip_programs)},
          {"extensions", verdict_to_json(row.extensions)},
          {"chosen_for_kernels", row.chosen_for_kernels},
          {"chosen_for_extensions", row.chosen_for_extensions}};
}

Json home_to_json(const TorchRocmHome& home) {
  const bool found = home.path.known() && home.path->has_value();
  return {{"torch_folder", home.torch_folder},
          {"known", home.path.known()},
          {"path", found ? Json(**home.path) : Json(nullptr)},
          {"rule", known_or_null(home.rule)},
          {"has_headers", known_or_null(home.has_headers)},
          {"has_hipcc", known_or_null(home.has_hipcc)},
          {"hipcc_in_torch", known_or_null(home.hipcc_in_torch)}};
}

Json triton_to_json(const TritonInstall& triton) {
  return {{"folder", triton.folder},
          {"version", known_or_null(triton.version)},
          {"bitcode", known_or_null(triton.bitcode)},
          {"has_headers", known_or_null(triton.has_headers)},
          {"starts_linker", known_or_null(triton.starts_linker)},
          {"linker", known_or_null(triton.linker)}};
}

}  // namespace

std::string toolchain_json(const ToolchainList& list, Redaction redaction) {
  Json rows = Json::array();
  for (const ToolchainRow& row : list.rows) rows.push_back(row_to_json(row));
  Json homes = Json::array();
  for (const TorchRocmHome* home : list.rocm_homes) homes.push_back(home_to_json(*home));
  Json tritons = Json::array();
  for (const TritonInstall* triton : list.tritons) tritons.push_back(triton_to_json(*triton));
  Json json = {{"schema_version", 1},
               {"target", list.target.empty() ? Json(nullptr) : Json(list.target)},
               {"target_source", list.target_source},
               {"unknown", list.unknown.empty() ? Json(nullptr) : Json(list.unknown)},
               {"compilers", rows},
               {"torch_rocm_homes", homes},
               {"tritons", tritons}};
  redact_texts(json, redaction);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sage
