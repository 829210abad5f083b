#include <string>
#include <string_view>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/host/program.hpp"
#include "probes/proof_child/attempt.hpp"
#include "probes/proof_child/outcome.hpp"
#include "probes/proof_child/surroundings.hpp"

namespace sage {
namespace {

/// How a kind of compiler is told to make device code and nothing else.
struct CommandForm {
  CompilerKind kind;
  std::vector<std::string_view> device_only;
  std::string_view target;                     ///< option before the target's name
  std::vector<std::string_view> freestanding;  ///< the flags of our own kernels (facts/kernels.md 9c)
  std::vector<std::string_view> unbundled;     ///< left out for a compiler that does not know it
  const char* source_file;
};

// hipcc with clang's own device-only option still links a host program (seen with 5.2.3); --genco does not.
// --cuda-device-only is the name that old and new clang know for --offload-device-only.
const std::vector<CommandForm>& command_forms() {
  static const std::vector<std::string_view> clang_mode = {"-x", "hip", "--cuda-device-only"};
  static const std::vector<std::string_view> no_libraries = {"-nogpulib", "-nogpuinc"};
  static const std::vector<std::string_view> no_bundle = {"--no-gpu-bundle-output"};
  static const std::vector<CommandForm> forms = {
      {CompilerKind::hipcc, {"--genco"}, "--offload-arch=", no_libraries, no_bundle, "kernel.hip"},
      {CompilerKind::amdclang, clang_mode, "--offload-arch=", no_libraries, no_bundle, "kernel.hip"},
      {CompilerKind::clang, clang_mode, "--offload-arch=", no_libraries, no_bundle, "kernel.hip"},
      {CompilerKind::nvcc, {"-cubin"}, "-arch=", {}, {}, "kernel.cu"},
  };
  return forms;
}

const CommandForm& form_of(CompilerKind kind) {
  for (const CommandForm& form : command_forms()) {
    if (form.kind == kind) return form;
  }
  return command_forms().back();
}

std::vector<std::string> command_for(const CompileRequest& request, const CommandForm& form, bool unbundled) {
  std::vector<std::string> command = {request.compiler};
  const auto add = [&](const std::vector<std::string_view>& more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  add(form.device_only);
  command.push_back(std::string(form.target) + request.target);
  if (request.source == ProofSource::freestanding) add(form.freestanding);
  if (unbundled) add(form.unbundled);
  add({"-std=c++17", "-O3", "-o", object_file, form.source_file});
  return command;
}

/// Ready to paste: words with anything but plain characters in single quotes.
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

Attempt run(const std::vector<std::string>& command, std::chrono::seconds deadline) {
  const auto end = run_foreign_program(command, deadline);
  if (!end) return {"could not be started", brief(end.error().text), pasteable(command)};
  Attempt attempt{outcome_of(*end, deadline), "", pasteable(command)};
  if (attempt.outcome != outcome_ok) attempt.message = decisive_line(end->errors + "\n" + end->output);
  return attempt;
}

}  // namespace

Attempt compile_with_program(const CompileRequest& request) {
  const MemoryLimit limited;
  const CommandForm& form = form_of(request.kind);
  if (!write_bytes(form.source_file, proof_source(request.kind, request.source))) {
    return {"could not be started", "the source could not be written", ""};
  }
  Attempt attempt = run(command_for(request, form, true), request.deadline);
  const bool unknown_option = !form.unbundled.empty() && contains(attempt.message, form.unbundled.front());
  return unknown_option ? run(command_for(request, form, false), request.deadline) : attempt;
}

}  // namespace sage
