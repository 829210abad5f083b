#include "probes/proof_child/outcome.hpp"

#include <csignal>
#include <doctest/doctest.h>

namespace sage {

TEST_CASE("an end is said in a few words") {
  const std::chrono::seconds minute{60};
  ProgramOutput end;
  CHECK(outcome_of(end, minute) == "ok");
  end.exit_status = 1;
  CHECK(outcome_of(end, minute) == "exit status 1");
  end.signal = SIGABRT;
  CHECK(outcome_of(end, minute) == "killed by SIGABRT");
  end.signal = 60;
  CHECK(outcome_of(end, minute) == "killed by signal 60");
  end.timed_out = true;
  CHECK(outcome_of(end, minute) == "deadline of 60 s passed");
}

TEST_CASE("the first error of a compiler counts, without the compiler's name") {
  CHECK(decisive_line("clang: warning: argument unused\nclang: error: invalid target ID 'gfx1201'; format is\n"
                      "clang: error: another\n") == "invalid target ID 'gfx1201'; format is");
  CHECK(decisive_line("kernel.hip:1:10: fatal error: 'hip/hip_runtime.h' file not found\n#include <x>\n") ==
        "'hip/hip_runtime.h' file not found");
}

TEST_CASE("without an error the last words count") {
  CHECK(decisive_line("one\nmunmap_chunk(): invalid pointer\n\n  \n") == "munmap_chunk(): invalid pointer");
  CHECK(decisive_line("").empty());
}

TEST_CASE("what a program said is one printable line of limited length") {
  CHECK(brief("  a\x1b[31mb\xff\tc ") == "a [31mb  c");
  CHECK(brief(std::string(5000, 'x')).size() == 300);
}

}  // namespace sage
