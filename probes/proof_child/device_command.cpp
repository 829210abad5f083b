#include "probes/proof_child/device_command.hpp"

#include "probes/base/text.hpp"

namespace sage {
namespace {

/// How a kind of compiler is told to make device code and nothing else.
struct CommandForm {
  CompilerKind kind;
  std::vector<std::string_view> device_only;
  std::string_view target;                     ///< option before the target's name
  std::vector<std::string_view> freestanding;  ///< the flags of our own kernels (facts/kernels.md 9c)
  std::vector<std::string_view> unbundled;     ///< left out for a compiler that does not know it
};

// hipcc with clang's own device-only option still links a host program (seen with 5.2.3); --genco does not.
// --cuda-device-only is the name that old and new clang know for --offload-device-only.
const std::vector<CommandForm>& command_forms() {
  static const std::vector<std::string_view> clang_mode = {"-x", "hip", "--cuda-device-only"};
  static const std::vector<std::string_view> no_libraries = {"-nogpulib", "-nogpuinc"};
  static const std::vector<std::string_view> no_bundle = {unbundling_option};
  static const std::vector<CommandForm> forms = {
      {CompilerKind::hipcc, {"--genco"}, "--offload-arch=", no_libraries, no_bundle},
      {CompilerKind::amdclang, clang_mode, "--offload-arch=", no_libraries, no_bundle},
      {CompilerKind::clang, clang_mode, "--offload-arch=", no_libraries, no_bundle},
      {CompilerKind::nvcc, {"-x", "cu", "-cubin"}, "-arch=", {}, {}},
  };
  return forms;
}

const CommandForm& form_of(CompilerKind kind) {
  for (const CommandForm& form : command_forms()) {
    if (form.kind == kind) return form;
  }
  return command_forms().back();
}

}  // namespace

std::vector<std::string> unit_definitions(std::string_view unit) {
  return {"-DSAGE_ONLY", "-DSAGE_PICK_" + std::string(unit)};
}

std::string_view source_suffix(CompilerKind kind) { return kind == CompilerKind::nvcc ? ".cu" : ".hip"; }

std::vector<std::string> device_command(const DeviceCompile& what) {
  const CommandForm& form = form_of(what.kind);
  std::vector<std::string> command = {what.compiler};
  const auto add = [&](const auto& more) { command.insert(command.end(), more.begin(), more.end()); };
  add(form.device_only);
  command.push_back(std::string(form.target) + what.target);
  // Products of warpgroups are no part of plain sm_90; such an object loads on the same GPUs, since they are all 9.0.
  if (what.kind == CompilerKind::nvcc && what.target == "sm_90") command.back() += 'a';
  if (what.freestanding) add(form.freestanding);
  if (!what.bundle_allowed) add(form.unbundled);
  add(std::vector<std::string_view>{"-std=c++17", "-O3"});
  add(what.definitions);
  add(std::vector<std::string>{"-o", what.output, what.source});
  return command;
}

std::vector<std::string> library_options(CompilerKind kind, std::string_view target,
                                         const std::vector<std::string>& definitions) {
  // hipRTC always with --offload-arch: without it it loads whatever libamdhip64.so the loader finds (facts/wheels.md
  // 2.11). comgr is given its target apart.
  std::vector<std::string> options =
      kind == CompilerKind::hiprtc ? std::vector<std::string>{"--offload-arch=" + std::string(target)}
                                   : std::vector<std::string>{"-nogpulib", "-nogpuinc"};
  options.insert(options.end(), {"-O3", "-std=c++17"});
  options.insert(options.end(), definitions.begin(), definitions.end());
  return options;
}

std::string pasteable(const std::vector<std::string>& command) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  std::vector<std::string> quoted;
  for (const std::string& word : command) {
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      quoted.push_back(word);
      continue;
    }
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted.push_back(text + "'");
  }
  return join(quoted, " ");
}

}  // namespace sage
