#include "doctor/inspect/inspect_json.hpp"

#include <nlohmann/json.hpp>

#include "doctor/report/redacted_json.hpp"

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

/// The fields of an object before its kernels, and those after them.
Json object_head(const InspectedObject& object) {
  return {{"target", object.target},
          {"bundle_id", object.bundle_id},
          {"bundle", object.bundle},
          {"offset", object.offset},
          {"bytes", object.size},
          {"code_object_version", object.version == 0 ? Json(nullptr) : Json(object.version)},
          {"kernels", nullptr},
          {"not_read", object.not_read},
          {"contradictions", object.contradictions}};
}

// A library may carry a hundred thousand kernels, and a tree of JSON takes ten times the room of its text. So only one
// kernel at a time is made into a tree; the lists around them are written by hand, in the form that dump() gives.

class JsonText {
 public:
  JsonText(Redaction& redaction, const TextSink& sink) : redaction_(redaction), sink_(sink) {}

  /// Every member of `object`, `depth` levels deep; where `special` names one, `write` writes its value.
  template <class Write>
  void object(Json object, std::string_view special, std::size_t depth, const Write& write) {
    text_ += '{';
    bool first = true;
    for (const auto& [key, value] : object.items()) {
      begin_item(first, depth + 1);
      text_ += Json(key).dump() + ": ";
      if (key == special) {
        write();
      } else {
        put_redacted(value, depth + 1);
      }
    }
    end(depth, '}');
  }

  template <class List, class Write>
  void list(const List& list, std::size_t depth, const Write& write) {
    if (list.empty()) {
      text_ += "[]";
      return;
    }
    text_ += '[';
    bool first = true;
    for (const auto& item : list) {
      begin_item(first, depth + 1);
      write(item);
    }
    end(depth, ']');
  }

  void put_redacted(Json value, std::size_t depth) {
    visit_texts(value, [&](std::string& text) { text = redaction_.apply(text); });
    put(value, depth);
  }

  void put(const Json& value, std::size_t depth) {
    const std::string dumped = value.dump(indent, ' ', false, Json::error_handler_t::replace);
    for (const char c : dumped) {
      text_ += c;
      if (c == '\n') text_.append(depth * indent, ' ');  // none of them is inside of a text
    }
  }

  void finish() {
    text_ += '\n';
    flush();
  }

 private:
  static constexpr int indent = 2;
  static constexpr std::size_t piece = 256 * 1024;

  void flush() {
    sink_(text_);
    text_.clear();
  }

  void begin_item(bool& first, std::size_t depth) {
    if (text_.size() >= piece) flush();
    text_ += first ? "\n" : ",\n";
    text_.append(depth * indent, ' ');
    first = false;
  }

  void end(std::size_t depth, char bracket) {
    text_ += '\n';
    text_.append(depth * indent, ' ');
    text_ += bracket;
  }

  Redaction& redaction_;
  const TextSink& sink_;
  std::string text_;
};

/// Names of kernels are as the compiler made them of the source. They hold nobody's name, and may have 10,000 letters.
void write_kernels(const InspectedObject& object, JsonText& text) {
  if (!object.kernels) return text.put(nullptr, 0);
  text.list(*object.kernels, 3, [&](const InspectedKernel& kernel) { text.put(kernel_to_json(kernel), 4); });
}

}  // namespace

void write_inspect_json(const Inspection& inspection, std::string_view tool_version, Redaction redaction,
                        const TextSink& sink) {
  Json report = {{"inspect_version", inspect_version},
                 {"tool_version", tool_version},
                 {"file", inspection.path},
                 {"kind", enum_name(inspection.kind)},
                 {"bytes", inspection.size},
                 {"elf", elf_to_json(inspection)},
                 {"targets", inspection.targets},
                 {"device_code", bundles_to_json(inspection.bundles)},
                 {"code_objects", nullptr},
                 {"cubin_kernels", inspection.cubin_kernels},
                 {"notes", inspection.notes}};
  visit_texts(report, [&](const std::string& text) { redaction.learn(text); });
  JsonText text(redaction, sink);
  text.object(report, "code_objects", 0, [&] {
    text.list(inspection.objects, 1, [&](const InspectedObject& object) {
      text.object(object_head(object), "kernels", 2, [&] { write_kernels(object, text); });
    });
  });
  text.finish();
}

std::string inspect_json(const Inspection& inspection, std::string_view tool_version, Redaction redaction) {
  std::string all;
  write_inspect_json(inspection, tool_version, std::move(redaction), [&](std::string_view piece) { all += piece; });
  return all;
}

}  // namespace sage
