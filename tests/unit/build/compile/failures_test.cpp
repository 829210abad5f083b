#include "doctor/build/compile/failures.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include "probes/base/text.hpp"

namespace sage {
namespace {

JobEnd exited(int status, std::string output) {
  JobEnd end;
  end.ending = JobEnding::exited;
  end.exit_status = status;
  end.output = std::move(output);
  return end;
}

JobEnd killed(int signal) {
  JobEnd end;
  end.ending = JobEnding::killed;
  end.signal = signal;
  return end;
}

BuildFailure explain(const JobEnd& end, bool wrote_output = false) {
  return explain_failure(end, {"/opt/x/hipcc", CompilerKind::hipcc, "gfx1201", 8, wrote_output, std::chrono::seconds(600), false});
}

struct Example {
  const char* id;
  const char* line;
};

}  // namespace

TEST_CASE("the rules are sound") {
  for (const std::string& problem : failure_rule_problems()) FAIL_CHECK(problem);
}

TEST_CASE("what compilers say is understood") {
  const Example examples[] = {
      {"target-unknown", "clang: error: invalid target ID 'gfx1201'; format is a processor name followed by an optional colon-delimited list"},
      {"target-unknown", "error: unknown target CPU 'gfx1201'"},
      {"target-unknown", "clang: error: unsupported HIP gpu architecture: gfx1201"},
      {"target-unknown", "nvcc fatal   : Value 'sm_121' is not defined for option 'gpu-architecture'"},
      {"target-unknown", "nvcc fatal   : Unsupported gpu architecture 'compute_70'"},
      {"target-unknown", "comgr 2.4 does not list gfx1201"},
      {"device-library-missing", "clang: error: cannot find ROCm device library for gfx1201; provide its path via '--rocm-path' or '--rocm-device-lib-path', or pass '-nogpulib' to build without ROCm device library"},
      {"linker-missing", "clang: error: unable to execute command: Executable \"lld\" doesn't exist!"},
      {"linker-missing", "clang: error: invalid linker name in argument '-fuse-ld=lld'"},
      {"bundler-missing", "clang: error: unable to execute command: Executable \"clang-offload-bundler\" doesn't exist!"},
      {"out-of-memory", "c++: fatal error: Killed signal terminated program cc1plus"},
      {"out-of-memory", "clang: error: unable to execute command: Killed"},
      {"out-of-memory", "terminate called after throwing an instance of 'std::bad_alloc'"},
      {"out-of-memory", "LLVM ERROR: out of memory"},
      {"out-of-memory", "nvcc error   : 'cicc' died due to signal 9 (Kill signal)"},
      {"out-of-memory", "clang++-19: error while loading shared libraries: libc.so.6: failed to map segment from shared object"},
      {"read-only", "lld: error: cannot open output file /nonexist/x.hsaco: Permission denied"},
      {"header-missing", "/x/y.hip:1:10: fatal error: 'hip/hip_runtime.h' file not found"},
      {"header-missing", "y.cpp:3:10: fatal error: thrust/complex.h: No such file or directory"},
      {"mixed-rocm", "error: Unknown attribute kind (86) (Producer: 'LLVM17.0.0git' Reader: 'LLVM 15.0.6')"},
      {"mixed-rocm", "clang: symbol lookup error: /opt/rocm/lib/libamd_comgr.so.2: undefined symbol: foo"},
      {"disk-full", "fatal error: error in backend: IO failure on output stream: No space left on device"},
      {"library-missing", "clang-19: error while loading shared libraries: libLLVM-19.so.1: cannot open shared object file: No such file or directory"},
      {"compiler-crash", "PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash backtrace."},
      {"compiler-crash", "munmap_chunk(): invalid pointer"},
      {"compile-error", "kernel.hip:12:3: error: use of undeclared identifier '__builtin_amdgcn_exp2f'"},
  };
  for (const Example& example : examples) {
    INFO(example.line);
    const std::string noise = "In file included from a.hip:1:\n";
    const BuildFailure failure = explain(exited(1, noise + example.line + "\n1 error generated.\n"));
    CHECK(failure.id == example.id);
    CHECK_FALSE(failure.cause.empty());
    CHECK_FALSE(failure.remedy.empty());
    CHECK_FALSE(contains(failure.cause + failure.remedy, "{"));
    CHECK_FALSE(contains(failure.cause + failure.remedy, "?"));
    REQUIRE_FALSE(failure.evidence.empty());
    CHECK(std::string_view(example.line).starts_with(failure.evidence[0]));
  }
}

TEST_CASE("how a silent compiler ended is understood") {
  CHECK(explain(killed(SIGKILL)).id == "out-of-memory");
  CHECK(contains(explain(killed(SIGKILL)).remedy, "-j 4"));
  CHECK(explain(killed(SIGSEGV)).id == "compiler-crash");
  CHECK(explain(killed(SIGTERM)).id == "killed");
  CHECK(explain(exited(0, "")).id == "no-output");
  JobEnd end;
  end.ending = JobEnding::timed_out;
  CHECK(explain(end).id == "timeout");
  CHECK(explain(end).evidence[0] == "[deadline of 600 s passed]");
  end.ending = JobEnding::not_started;
  end.output = "/opt/x/hipcc: No such file or directory";
  CHECK(explain(end).id == "not-started");
}

TEST_CASE("a crash on a full disk is laid to the disk") {
  const JobEnd end = exited(1, "PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/\n");
  FailureFacts facts{"/opt/x/hipcc", CompilerKind::hipcc, "gfx1201", 8, true, std::chrono::seconds(600), false};
  CHECK(explain_failure(end, facts).id == "compiler-crash");
  facts.disk_full = true;
  CHECK(explain_failure(end, facts).id == "disk-full");
  CHECK(explain_failure(end, facts).evidence[0] == "[exit status 1, no space left]");
}

TEST_CASE("words come into cause and remedy") {
  const BuildFailure header = explain(exited(1, "a.hip:1:10: fatal error: 'rocprim/rocprim.hpp' file not found"));
  CHECK(contains(header.cause, "rocprim/rocprim.hpp"));
  const BuildFailure target = explain(exited(1, "clang: error: invalid target ID 'gfx1201'; format is"));
  CHECK(target.cause == "/opt/x/hipcc does not know gfx1201. Most often it is older than the GPU.");
  CHECK(contains(target.remedy, "--target gfx1201"));
}

TEST_CASE("what no rule knows is shown and not guessed at") {
  const BuildFailure failure = explain(exited(42, "first\nsomething odd\n"));
  CHECK(failure.id == "unknown");
  CHECK(failure.cause == "/opt/x/hipcc failed: exit status 42.");
  REQUIRE(failure.evidence.size() == 2);
  CHECK(failure.evidence[0] == "something odd");
  CHECK(failure.evidence[1] == "[exit status 42]");
}

TEST_CASE("a flood of errors gives three printable lines") {
  std::string flood;
  for (int i = 0; i < 3000; ++i) flood += "a.hip:" + std::to_string(i) + ": error: \x1b[31mbad\x01 thing\n";
  flood += std::string(300'000, 'x');
  const BuildFailure failure = explain(exited(1, flood));
  CHECK(failure.id == "compile-error");
  REQUIRE(failure.evidence.size() == 3);
  for (const std::string& line : failure.evidence) {
    CHECK(line.size() <= 200);
    for (const char c : line) CHECK((c >= ' ' && c <= '~'));
  }
}

}  // namespace sage
