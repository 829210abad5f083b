#include <string>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/host/program.hpp"
#include "probes/proof_child/attempt.hpp"
#include "probes/proof_child/device_command.hpp"
#include "probes/proof_child/outcome.hpp"
#include "probes/proof_child/surroundings.hpp"

namespace sage {
namespace {

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
  const std::string source_file = "kernel" + std::string(source_suffix(request.kind));
  if (!write_bytes(source_file.c_str(), proof_source(request.kind, request.source))) {
    return {"could not be started", "the source could not be written", ""};
  }
  DeviceCompile what{request.kind, request.compiler, request.target, {}, request.source == ProofSource::freestanding,
                     false,        source_file,      object_file};
  Attempt attempt = run(device_command(what), request.deadline);
  if (!contains(attempt.message, unbundling_option)) return attempt;
  what.bundle_allowed = true;
  return run(device_command(what), request.deadline);
}

}  // namespace sage
