#include <cstddef>
#include <string>

#include "probes/base/text.hpp"
#include "probes/proof_child/attempt.hpp"
#include "probes/proof_child/library.hpp"
#include "probes/proof_child/outcome.hpp"

namespace sage {
namespace {

// The functions of hipRTC's C interface that are used, declared by hand as in the public header hiprtc.h.
using Program = void*;
struct Hiprtc {
  explicit Hiprtc(const Library& library)
      : create(library.find<decltype(create)>("hiprtcCreateProgram")),
        compile(library.find<decltype(compile)>("hiprtcCompileProgram")),
        log_size(library.find<decltype(log_size)>("hiprtcGetProgramLogSize")),
        log(library.find<decltype(log)>("hiprtcGetProgramLog")),
        code_size(library.find<decltype(code_size)>("hiprtcGetCodeSize")),
        code(library.find<decltype(code)>("hiprtcGetCode")),
        error_text(library.find<decltype(error_text)>("hiprtcGetErrorString")) {}

  [[nodiscard]] bool complete() const {
    return create != nullptr && compile != nullptr && log_size != nullptr && log != nullptr && code_size != nullptr &&
           code != nullptr && error_text != nullptr;
  }

  int (*create)(Program*, const char* text, const char* name, int headers, const char* const*, const char* const*);
  int (*compile)(Program, int count, const char* const* options);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*code_size)(Program, std::size_t*);
  int (*code)(Program, char*);
  const char* (*error_text)(int);
};

constexpr std::size_t largest_answer = 64 * 1024 * 1024;

std::string log_of(const Hiprtc& rtc, Program program) {
  std::size_t size = 0;
  if (rtc.log_size(program, &size) != 0 || size == 0 || size > largest_answer) return "";
  std::string log(size, '\0');
  if (rtc.log(program, log.data()) != 0) return "";
  return log.c_str();
}

int failed(int answer, const Hiprtc& rtc, int error, const std::string& log) {
  const char* text = rtc.error_text(error);
  write_answer(answer, "error " + std::to_string(error) + " (" + (text == nullptr ? "" : text) + ")\n" + log);
  return 0;
}

// Always with --offload-arch: without it hipRTC loads whatever libamdhip64.so the loader finds (facts/wheels.md 2.11).
int compile_here(const CompileRequest& request, const std::string& arch, int answer) {
  load_comgr_beside(request.compiler);
  const Library library(request.compiler);
  if (!library.loaded()) {
    write_answer(answer, "could not be loaded\n" + library.problem());
    return 0;
  }
  const Hiprtc rtc(library);
  if (!rtc.complete()) {
    write_answer(answer, "could not be loaded\nit has no hipRTC inside");
    return 0;
  }
  Program program = nullptr;
  const std::string text(proof_source(request.kind, request.source));
  if (const int error = rtc.create(&program, text.c_str(), "kernel.hip", 0, nullptr, nullptr); error != 0) {
    return failed(answer, rtc, error, "hiprtcCreateProgram failed");
  }
  const char* options[] = {arch.c_str(), "-O3", "-std=c++17"};
  if (const int error = rtc.compile(program, 3, options); error != 0) {
    return failed(answer, rtc, error, log_of(rtc, program));
  }
  std::size_t size = 0;
  if (const int error = rtc.code_size(program, &size); error != 0) {
    return failed(answer, rtc, error, "hiprtcGetCodeSize failed");
  }
  if (size > largest_answer) {
    write_answer(answer, "failed\nhiprtcGetCodeSize says " + std::to_string(size) + " bytes");
    return 0;
  }
  std::string code(size, '\0');
  if (const int error = rtc.code(program, code.data()); error != 0) {
    return failed(answer, rtc, error, "hiprtcGetCode failed");
  }
  const bool written = write_bytes(object_file, code);
  write_answer(answer, written ? outcome_ok : std::string_view("failed\nthe code object could not be written"));
  return 0;
}

}  // namespace

Attempt compile_with_hiprtc(const CompileRequest& request) {
  const std::string arch = "--offload-arch=" + request.target;
  const WorkerEnd end =
      run_worker(request.deadline, [&](int answer) { return compile_here(request, arch, answer); });
  return library_attempt(end, "hiprtcCompileProgram of " + request.compiler + " with " + arch + " -O3 -std=c++17");
}

}  // namespace sage
