#include "doctor/build/compile/identity.hpp"

#include <set>

#include "probes/base/text.hpp"

namespace sage {
namespace {

void add(std::string& text, std::string_view name, std::string_view value) {
  text += std::string(name) + "=" + std::string(value) + "\n";
}

std::string known_or_reason(const Fact<std::string>& fact) {
  return fact.known() ? *fact : "unknown: " + fact.why_unknown().text;
}

std::string file_identity(const std::string& path, const Host& host) {
  const auto status = host.status(path);
  if (!status) return status.error().text;
  return std::to_string(status->size) + " bytes, inode " + std::to_string(status->inode);
}

}  // namespace

std::string compiler_identity(const Toolchain& compiler, const Host& host) {
  std::string text;
  add(text, "kind", compiler.kind.known() ? enum_name(*compiler.kind) : "unknown");
  add(text, "rocm", known_or_reason(compiler.rocm_version));
  add(text, "clang-version", known_or_reason(compiler.clang_version));
  std::set<std::string> files = {compiler.path};
  if (compiler.canonical.known()) files.insert(*compiler.canonical);
  for (const Fact<std::string>* part : {&compiler.clang, &compiler.linker}) {
    if (part->known() && !(*part)->empty()) files.insert(**part);
  }
  if (compiler.kind.is(CompilerKind::hiprtc)) {
    // The compiler proper is comgr (facts/wheels.md 2.11).
    const std::string& library = compiler.canonical.known() ? *compiler.canonical : compiler.path;
    const std::string folder = library.substr(0, library.rfind('/') + 1);
    for (const char* name : {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"}) {
      if (host.status(folder + name).ok()) files.insert(folder + name);
    }
  }
  for (const std::string& file : files) {
    const auto canonical = host.canonical(file);
    add(text, canonical.ok() ? *canonical : file, file_identity(file, host));
  }
  return text;
}

std::string cache_key_text(std::string_view source_digest, std::string_view compiler_identity, std::string_view target,
                           std::string_view unit, const std::vector<std::string>& flags) {
  std::string text = "sage-doctor-object/1\n";
  add(text, "source", source_digest);
  add(text, "target", target);
  add(text, "unit", unit);
  for (const std::string& flag : flags) add(text, "flag", flag);
  text += compiler_identity;
  return text;
}

}  // namespace sage
