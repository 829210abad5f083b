#include "doctor/inspect/inspect_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t label_width = 12;

std::string count_of(std::size_t number, std::string_view thing) {
  return std::to_string(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

/// "x86_64", or "ELF machine 243" where the machine has no name here.
std::string machine_name(const std::string& machine) {
  const bool number = machine.find_first_not_of("0123456789") == std::string::npos;
  return (number ? "ELF machine " : "") + machine;
}

std::string what_it_is(const Inspection& found) {
  const auto for_cpu = [&](const std::string& thing) {
    return std::to_string(found.elf->bits) + "-bit " + thing + " for " + machine_name(found.elf->machine);
  };
  switch (found.kind) {
    case InspectedKind::library:
      return for_cpu("shared library");
    case InspectedKind::program:
      return for_cpu("program");
    case InspectedKind::object:
      return for_cpu("relocatable object");
    case InspectedKind::code_object:
      return "AMDGPU code object";
    case InspectedKind::cubin:
      return "NVIDIA cubin";
    case InspectedKind::bundle:
      return "offload bundle";
    case InspectedKind::kpack:
      return "kpack file: GPU code of a library, kept beside it";
  }
  return {};
}

class Writer {
 public:
  Writer(const Inspection& found, const InspectTextStyle& style) : found_(found), style_(style) {}

  std::string write() {
    text_ = wrapped(printable(found_.path) + ": " + what_it_is(found_) + ", " + human_bytes(found_.size), "", "  ",
                    style_.width);
    if (found_.elf) write_elf(*found_.elf);
    write_bundles();
    if (!found_.bundles) row("for", found_.targets.empty() ? "" : join(found_.targets, " "));
    write_objects();
    list("kernel", found_.cubin_kernels);
    if (found_.exports) {
      row("exports", found_.exports->empty() ? "none" : std::to_string(found_.exports->size()));
      for (const std::string& name : *found_.exports) text_ += "    " + printable(name) + "\n";
    }
    for (const std::string& note : found_.notes) row("note", note);
    return std::move(text_);
  }

 private:
  /// Nothing for an empty value.
  void row(std::string_view label, std::string_view value) {
    if (value.empty()) return;
    text_ += wrapped(printable(value), "  " + left_aligned(label, label_width), std::string(label_width + 2, ' '),
                     style_.width);
  }

  /// One value a line; the label stands before the first.
  void list(std::string_view label, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      row(label, value.empty() ? "(empty)" : value);
      label = {};
    }
  }

  void write_elf(const ElfFacts& elf) {
    row("soname", elf.soname);
    row("build id", elf.build_id);
    list("needs", elf.needed);
    if (!elf.rpath.empty()) {
      list("rpath", elf.rpath);
      row("", elf.runpath.empty() ? "(searched before LD_LIBRARY_PATH, also for what the needed libraries need)"
                                  : "(not searched: a runpath takes its place)");
    }
    if (!elf.runpath.empty()) {
      list("runpath", elf.runpath);
      row("", "(searched after LD_LIBRARY_PATH, for this file's own needs only)");
    }
    std::string_view label = "wants";
    for (const HighestNeed& need : found_.highest_needs) {
      row(label, need.library + ": " + join(need.versions, " "));
      label = {};
    }
    row("defines", join(elf.version_definitions, " "));
  }

  void write_bundles() {
    if (!found_.bundles) {
      if (found_.elf) row("GPU code", "none (no section .hip_fatbin)");
      return;
    }
    const InspectedBundles& bundles = *found_.bundles;
    if (!bundles.in_file) {
      row("GPU code", "not in this file (.hip_fatbin is empty): it comes from .kpack files");
      return;
    }
    row("GPU code", found_.targets.empty() ? "for no target" : join(found_.targets, " "));
    row("", "in " + count_of(bundles.count, "bundle") +
                (bundles.compressed ? ", compressed (CCOB: read by comgr 2.8 and later)" : ""));
    if (!bundles.incomplete.empty()) row("", "there may be more: " + bundles.incomplete);
  }

  void write_objects() {
    // Of a library with hundreds of code objects whose kernels were not read the targets say it all.
    const bool any_read = std::any_of(found_.objects.begin(), found_.objects.end(), [](const InspectedObject& o) {
      return o.kernels || !o.not_read.empty() || !o.contradictions.empty();
    });
    if (!any_read) return;
    for (const InspectedObject& object : found_.objects) write_object(object);
    if (left_out_ != 0) row("note", count_of(left_out_, "more kernel") + " not shown here; --json shows all");
  }

  void write_object(const InspectedObject& object) {
    std::string head = object.target.empty() ? object.bundle_id : object.target;
    if (object.version != 0) head += ", code object version " + std::to_string(object.version);
    head += ", " + human_bytes(object.size);
    if (object.kernels) head += ", " + count_of(object.kernels->size(), "kernel");
    text_ += "\n" + wrapped(printable(head), "  ", "    ", style_.width);
    if (!object.not_read.empty())
      text_ += wrapped("kernels not read: " + printable(object.not_read), "    ", "    ", style_.width);
    for (const std::string& text : object.contradictions) warn(text);
    if (!object.kernels || object.kernels->empty()) return;
    if (shown_ < style_.most_kernels) text_ += "    VGPR AGPR SGPR spills    LDS scratch wave  kernel\n";
    for (const InspectedKernel& kernel : *object.kernels) write_kernel(kernel);
  }

  void write_kernel(const InspectedKernel& inspected) {
    if (shown_ == style_.most_kernels) {
      ++left_out_;
      return;
    }
    ++shown_;
    const code_object::KernelMetadata& data = inspected.kernel.metadata;
    const std::string spills = std::to_string(std::uint64_t{data.vgpr_spill_count} + data.sgpr_spill_count);
    const std::array<std::pair<std::uint64_t, std::size_t>, 3> registers = {
        {{data.vgpr_count, 8}, {data.agpr_count, 5}, {data.sgpr_count, 5}}};
    for (const auto& [number, width] : registers) text_ += right_aligned(std::to_string(number), width);
    text_ += right_aligned(spills, 7);
    text_ += right_aligned(std::to_string(data.lds_bytes), 7);
    text_ += right_aligned(std::to_string(data.scratch_bytes_per_lane), 8);
    text_ += right_aligned(std::to_string(data.wavefront_size), 5);
    text_ += "  " + printable(data.name) + "\n";
    for (const std::string& text : inspected.contradictions) warn(text);
  }

  void warn(std::string_view text) {
    text_ += wrapped("contradiction: " + printable(text), "      ", "      ", style_.width);
  }

  const Inspection& found_;
  const InspectTextStyle& style_;
  std::string text_;
  std::size_t shown_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

std::string inspect_text(const Inspection& inspection, const InspectTextStyle& style) {
  return Writer(inspection, style).write();
}

}  // namespace sage
