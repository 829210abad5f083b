#include "doctor/build/sources.hpp"

#include "probes/base/embedded.hpp"

namespace sage {
namespace {

/// Empty where the program was built without it.
std::string_view named(std::string_view name) {
  for (const EmbeddedFile& file : embedded_kernel_sources()) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace

std::string_view device_text() {
  return named("sage_kernels.hip");
}

std::string device_text_digest() {
  return std::string(named("sage_kernels.hip.sha256"));
}

std::string_view attention_header() {
  return named("attention.h");
}

std::string_view attention_library() {
  return named("libsage_attention.so.1");
}

std::optional<std::string> prebuilt_object(std::string_view target, const Unit& unit) {
  const std::string name = object_file_name(target, unit.name);
  for (const EmbeddedFile& file : embedded_code_objects()) {
    if (file.name == name) return std::string(file.text);
  }
  return std::nullopt;
}

}  // namespace sage
