#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "probes/proof_child/library.hpp"
#include "probes/proof_child/library_compile.hpp"
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

std::string log_of(const Hiprtc& rtc, Program program) {
  std::size_t size = 0;
  if (rtc.log_size(program, &size) != 0 || size == 0 || size > largest_library_answer) return "";
  std::string log(size, '\0');
  if (rtc.log(program, log.data()) != 0) return "";
  return log.c_str();
}

LibraryAnswer failed(const Hiprtc& rtc, int error, std::string words) {
  const char* text = rtc.error_text(error);
  return {"error " + std::to_string(error) + " (" + (text == nullptr ? "" : text) + ")", std::move(words), ""};
}

/// Before hipRTC of ROCm 6 an unknown target ends the process (facts/kernels.md 10). The comgr that it uses is asked.
std::optional<LibraryAnswer> refusal_of_comgr(const std::string& target) {
  for (const char* name : comgr_names) {
    const Library loaded = Library::already_loaded(name);
    if (loaded.loaded()) return comgr_refusal(loaded, target);
  }
  return std::nullopt;
}

}  // namespace

LibraryAnswer compile_in_hiprtc(const LibraryCompile& what) {
  load_comgr_beside(what.library);
  const Library library(what.library);
  if (!library.loaded()) return {"could not be loaded", library.problem(), ""};
  const Hiprtc rtc(library);
  if (!rtc.complete()) return {"could not be loaded", "it has no hipRTC inside", ""};
  if (auto refusal = refusal_of_comgr(what.target)) return *std::move(refusal);
  Program program = nullptr;
  const std::string text(what.text);
  if (const int error = rtc.create(&program, text.c_str(), "kernel.hip", 0, nullptr, nullptr); error != 0) {
    return failed(rtc, error, "hiprtcCreateProgram failed");
  }
  std::vector<const char*> options;
  for (const std::string& option : what.options) options.push_back(option.c_str());
  if (const int error = rtc.compile(program, static_cast<int>(options.size()), options.data()); error != 0) {
    return failed(rtc, error, log_of(rtc, program));
  }
  std::size_t size = 0;
  if (const int error = rtc.code_size(program, &size); error != 0) {
    return failed(rtc, error, "hiprtcGetCodeSize failed");
  }
  if (size > largest_library_answer) {
    return {"failed", "hiprtcGetCodeSize says " + std::to_string(size) + " bytes", ""};
  }
  std::string code(size, '\0');
  if (const int error = rtc.code(program, code.data()); error != 0) return failed(rtc, error, "hiprtcGetCode failed");
  return {std::string(outcome_ok), log_of(rtc, program), std::move(code)};
}

}  // namespace sage
