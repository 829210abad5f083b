#include "doctor/inspect/device_objects.hpp"

#include "kernels/code_object/bundle.hpp"

namespace sage {
namespace {

constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";
constexpr std::string_view spirv_magic = "\x03\x02\x23\x07";

/// A target written in one way only, so that two can be compared; as it is when it is none.
std::string canonical(const std::string& target) {
  const auto parsed = code_object::parse_target_id(target);
  return parsed ? code_object::target_id(*parsed) : target;
}

void compare_with_bundle(InspectedObject& object) {
  const std::string promised = code_object::parse_bundle_id(object.bundle_id).target;
  if (object.bundle_id.empty() || canonical(promised) == canonical(object.target)) return;
  object.contradictions.push_back("its bundle says " + promised + ", its own header " + object.target);
}

}  // namespace

void read_object(code_object::ByteSpan bytes, InspectedObject& object) {
  const code_object::Bytes view{bytes};
  if (view.starts_with(0, spirv_magic)) {
    object.not_read = "SPIR-V: made into code for the GPU when it is loaded";
    return;
  }
  if (!view.starts_with(0, elf_magic)) {
    object.not_read = "no ELF file";
    return;
  }
  const auto header = code_object::identify(bytes);
  if (!header) {
    object.not_read = header.error().message;
    return;
  }
  object.target = code_object::target_id(header->target);
  object.version = header->version;
  compare_with_bundle(object);

  auto code = code_object::read_code_object(bytes);
  if (!code) {
    object.not_read = code.error().message;
    return;
  }
  object.kernels.emplace();
  for (code_object::Kernel& kernel : code.value().kernels) {
    InspectedKernel& inspected = object.kernels->emplace_back();
    inspected.contradictions = code_object::contradictions(*code, kernel);
    inspected.kernel = std::move(kernel);
    inspected.kernel.metadata.symbol = std::string();  // the name again; a library may have 100,000 of 10,000 letters
  }
}

}  // namespace sage
