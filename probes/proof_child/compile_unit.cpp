#include "probes/proof_child/compile_unit.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "probes/base/enum_names.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/proof_child/attempt.hpp"
#include "probes/proof_child/device_command.hpp"
#include "probes/proof_child/library_compile.hpp"
#include "probes/proof_child/outcome.hpp"
#include "probes/proof_child/surroundings.hpp"
#include "probes/proof_child/verbs.hpp"

namespace sage {
namespace {

constexpr std::size_t largest_source = 16 * 1024 * 1024;

[[noreturn]] void leave(int status) {
  std::fflush(nullptr);
  _exit(status);
}

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  leave(EXIT_FAILURE);
}

}  // namespace

std::vector<std::string> compile_unit_command(const std::string& program, const LibraryUnit& unit) {
  return {program,    std::string(proof_verb), std::string(compile_unit_verb),
          "--kind",   std::string(enum_name(unit.kind)),
          "--compiler", unit.library, "--target", unit.target, "--unit", unit.unit,
          "--source", unit.source, "--output", unit.output};
}

void compile_unit(const LibraryUnit& unit) {
  prepare_surroundings();
  const auto text = file_calls::read_whole(unit.source, Links::follow, largest_source);
  if (!text) fail(unit.source + ": " + text.error().text);
  const LibraryCompile what{unit.library, unit.target, *text,
                            library_options(unit.kind, unit.target, unit_definitions(unit.unit))};
  const LibraryAnswer answer = unit.kind == CompilerKind::comgr ? compile_in_comgr(what) : compile_in_hiprtc(what);
  if (!answer.words.empty()) std::fprintf(stderr, "%s\n", answer.words.c_str());
  if (answer.outcome != outcome_ok) {
    fail(unit.library + " made no code object for " + unit.target + ": " + answer.outcome);
  }
  if (!write_bytes(unit.output.c_str(), answer.code)) fail(unit.output + " could not be written");
  leave(EXIT_SUCCESS);
}

}  // namespace sage
