#include "probes/proof_child/warden.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "probes/base/text.hpp"
#include "probes/host/child.hpp"
#include "probes/host/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

/// A warden in a child of the test, with TMPDIR at `place`; its exit status.
int status_of_guard(const TemporaryFolder& place, std::chrono::milliseconds deadline, const std::function<int()>& work) {
  const auto body = [&](const std::vector<int>&) {
    setenv("TMPDIR", place.path().c_str(), 1);
    return guard(deadline, work);
  };
  const auto end = run_child(body, {}, std::chrono::seconds(60));
  REQUIRE(end.ok());
  REQUIRE_FALSE(end->timed_out);
  return end->exit_status;
}

/// Starts a program that leaves our process group and session, and notes its number.
void start_deserter(const std::string& note) {
  const std::string script = "setsid sh -c 'echo $$ > " + note + "; exec sleep 600' & while [ ! -s " + note +
                             " ]; do sleep 0.01; done";
  if (std::system(script.c_str()) != 0) _exit(99);
}

bool runs(const std::string& note) {
  pid_t number = 0;
  std::ifstream(note) >> number;
  REQUIRE(number > 1);
  return kill(number, 0) == 0;
}

constexpr std::chrono::milliseconds plenty{60'000};

}  // namespace

TEST_CASE("a proof has a private folder that is gone afterwards") {
  const TemporaryFolder place;
  const std::string note = place.path("note");
  CHECK(status_of_guard(place, plenty, [&] {
          std::ofstream("left behind") << "x";
          std::ofstream(note) << fs::current_path().string() << "\n" << std::getenv("TMPDIR");
          return 7;
        }) == 7);
  std::string folder;
  std::string variable;
  std::ifstream lines(note);
  std::getline(lines, folder);
  std::getline(lines, variable);
  CHECK(folder.starts_with(place.path() + "/sage-doctor-"));
  CHECK(variable == folder);
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("what a proof left running is killed, in whatever group it hides") {
  const TemporaryFolder place;
  const std::string note = place.path("note");
  CHECK(status_of_guard(place, plenty, [&] {
          start_deserter(note);
          return 0;
        }) == 0);
  CHECK_FALSE(runs(note));
}

TEST_CASE("a proof that hangs is killed at the deadline with all that it started") {
  const TemporaryFolder place;
  const std::string note = place.path("note");
  CHECK(status_of_guard(place, std::chrono::milliseconds(1500), [&] {
          start_deserter(note);
          for (;;) pause();
          return 0;
        }) == 1);
  CHECK_FALSE(runs(note));
  for (const fs::directory_entry& entry : fs::directory_iterator(place.folder())) {
    CHECK_FALSE(entry.path().filename().string().starts_with("sage-doctor-"));
  }
}

TEST_CASE("arguments that are no proof are refused") {
  const auto end = run_foreign_program({SAGE_TEST_BINARY, "internal", "nothing"}, plenty);
  REQUIRE(end.ok());
  CHECK(end->exit_status == 2);
  CHECK(contains(end->errors, "not for use by hand"));
}

}  // namespace sage
