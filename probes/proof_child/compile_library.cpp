#include <string>

#include "probes/base/text.hpp"
#include "probes/proof_child/attempt.hpp"
#include "probes/proof_child/device_command.hpp"
#include "probes/proof_child/library_compile.hpp"
#include "probes/proof_child/outcome.hpp"

namespace sage {
namespace {

int compile_here(const LibraryCompile& what, CompilerKind kind, int answer) {
  const LibraryAnswer end = kind == CompilerKind::comgr ? compile_in_comgr(what) : compile_in_hiprtc(what);
  if (end.outcome == outcome_ok && !write_bytes(object_file, end.code)) {
    write_answer(answer, "failed\nthe code object could not be written");
  } else {
    write_answer(answer, end.outcome + "\n" + end.words);
  }
  return 0;
}

}  // namespace

Attempt compile_with_library(const CompileRequest& request) {
  const LibraryCompile what{request.compiler, request.target, proof_source(request.kind, request.source),
                            library_options(request.kind, request.target, {})};
  const WorkerEnd end =
      run_worker(request.deadline, [&](int answer) { return compile_here(what, request.kind, answer); });
  const std::string call = request.kind == CompilerKind::comgr ? "amd_comgr_do_action" : "hiprtcCompileProgram";
  return library_attempt(end, call + " of " + request.compiler + " for " + request.target + " with " +
                                  join(what.options, " "));
}

}  // namespace sage
