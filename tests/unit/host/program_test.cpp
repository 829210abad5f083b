#include "probes/host/program.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

constexpr std::chrono::milliseconds plenty{30'000};

Result<ProgramOutput> shell(const std::string& script, std::chrono::milliseconds deadline = plenty) {
  return run_foreign_program({"sh", "-c", script}, deadline);
}

}  // namespace

TEST_CASE("a program's outputs and status are kept apart") {
  const auto output = shell("echo out; echo err >&2; exit 3");
  REQUIRE(output.ok());
  CHECK(output->output == "out\n");
  CHECK(output->errors == "err\n");
  CHECK(output->exit_status == 3);
  CHECK(output->signal == 0);
  CHECK_FALSE(output->timed_out);
}

TEST_CASE("arguments reach a program as they are") {
  CHECK(run_foreign_program({"printf", "%s|", "a b", "$HOME;*", ""}, plenty)->output == "a b|$HOME;*||");
}

TEST_CASE("a program gets no input, no descriptor of ours and no blocked signal") {
  const int leaked = open("/dev/zero", O_RDONLY);
  REQUIRE(leaked > STDERR_FILENO);
  CHECK(shell("cat; test -e /proc/self/fd/" + std::to_string(leaked) + " || echo clean")->output == "clean\n");
  close(leaked);
}

TEST_CASE("a program that can't be started is an error with its reason") {
  const TemporaryFolder folder;
  // Below a folder of its own: a folder of PATH that may not be searched would give EACCES.
  CHECK(run_foreign_program({folder.path() + "/none"}, plenty).error() ==
        Error{ENOENT, folder.path() + "/none: no such file or directory"});
  CHECK(run_foreign_program({folder.write("data", "not a program")}, plenty).error().number == EACCES);
  CHECK(run_foreign_program({folder.path()}, plenty).error().number == EACCES);
  CHECK(run_foreign_program({}, plenty).error().number == EINVAL);
  CHECK(run_foreign_program({"true", std::string("a\0b", 3)}, plenty).error().number == EINVAL);
}

TEST_CASE("a program that crashes tells its signal") {
  const auto output = shell("kill -SEGV $$");
  REQUIRE(output.ok());
  CHECK(output->signal == SIGSEGV);
}

TEST_CASE("a program and its children are killed at the deadline, and what they said is kept") {
  const auto output = shell("echo first; sleep 1000 & sleep 1000", std::chrono::seconds(3));
  REQUIRE(output.ok());
  CHECK(output->timed_out);
  CHECK(output->output == "first\n");
}

TEST_CASE("a program that leaves a daemon behind is not waited for") {
  const auto output = shell("sleep 1000 & echo done");
  REQUIRE(output.ok());
  CHECK_FALSE(output->timed_out);
  CHECK(output->output == "done\n");
}

TEST_CASE("only the first MiB of each output is kept") {
  const auto output = shell("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2");
  REQUIRE(output.ok());
  CHECK(output->exit_status == 0);
  CHECK(output->output.size() == 1024 * 1024);
  CHECK(output->errors.size() == 1024 * 1024);
}

}  // namespace sage
