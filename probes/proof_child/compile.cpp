#include "probes/proof_child/compile.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include "kernels/code_object/code_object.hpp"
#include "kernels/code_object/cubin.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/proof_child/attempt.hpp"
#include "probes/proof_child/outcome.hpp"
#include "probes/proof_child/unbundle.hpp"

namespace sage {
namespace {

namespace co = code_object;

Error defect(const co::Error& error) { return {0, "no sound code object: " + error.message}; }

/// What was found in the compiler's output.
struct Found {
  std::string target;
  bool with_kernel = false;
};

Result<Found> look_into(const std::vector<std::byte>& object, CompilerKind kind) {
  if (kind == CompilerKind::nvcc) {
    const auto cubin = co::read_cubin(object);
    if (!cubin) return defect(cubin.error());
    const auto& kernels = cubin->kernels;
    const bool there = std::find(kernels.begin(), kernels.end(), proof_kernel) != kernels.end();
    return Found{"sm_" + std::to_string(cubin->sm), there};
  }
  const auto read = co::read_code_object(object);
  if (!read) return defect(read.error());
  return Found{co::target_id(read->target), read->find_kernel(proof_kernel) != nullptr};
}

void judge_object(const CompileRequest& request, Compiled& compiled) {
  CompileProof& proof = compiled.proof;
  const auto refuse = [&](const std::string& why) { proof.message = brief(why); };
  const auto file = file_calls::read_whole(object_file, Links::keep, largest_object);
  if (!file) return refuse("the compiler wrote no code object");
  auto object = unbundled(co::as_bytes(*file), request.target);
  if (!object) return refuse(object.error().text);
  const Result<Found> found = look_into(*object, request.kind);
  if (!found) return refuse(found.error().text);
  proof.object_target = found->target;
  if (found->target != request.target) return refuse("the code object is for " + found->target);
  if (!found->with_kernel) return refuse("the kernel is missing in the code object");
  proof.built = true;
  compiled.object = std::move(object).value();
}

Attempt attempt(const CompileRequest& request) {
  switch (request.kind) {
    case CompilerKind::hiprtc:
    case CompilerKind::comgr: return compile_with_library(request);
    case CompilerKind::hipcc:
    case CompilerKind::amdclang:
    case CompilerKind::clang:
    case CompilerKind::nvcc: break;
  }
  return compile_with_program(request);
}

}  // namespace

bool write_bytes(const char* name, std::string_view bytes) {
  std::ofstream file(name, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file.good();
}

Attempt library_attempt(const WorkerEnd& end, std::string command) {
  if (end.outcome != outcome_ok) return {end.outcome, decisive_line(end.talk), std::move(command)};
  const std::size_t line_end = end.answer.find('\n');
  std::string outcome = brief(end.answer.substr(0, line_end));
  if (outcome.empty()) return {"ended without an answer", decisive_line(end.talk), std::move(command)};
  const std::string words = line_end == std::string::npos ? "" : end.answer.substr(line_end + 1);
  return {std::move(outcome), decisive_line(words), std::move(command)};
}

Compiled compile(const CompileRequest& request) {
  Attempt end = attempt(request);
  Compiled compiled;
  CompileProof& proof = compiled.proof;
  proof.compiler = request.compiler;
  proof.target = request.target;
  proof.source = request.source;
  proof.built = false;
  proof.object_target = std::string();
  proof.message = std::move(end.message);
  proof.command = std::move(end.command);
  const bool went_well = end.outcome == outcome_ok;
  proof.outcome = std::move(end.outcome);
  if (went_well) judge_object(request, compiled);
  return compiled;
}

}  // namespace sage
