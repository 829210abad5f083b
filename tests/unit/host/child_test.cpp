#include "probes/host/child.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>

namespace sage {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds plenty{30'000};
constexpr milliseconds little{100};    // for one that hangs whatever it is given
constexpr milliseconds enough{2'000};  // for one that must get to work, on a busy machine too

std::string echo(const std::string& text) {
  return text;
}

}  // namespace

TEST_CASE("a child's answer comes back byte by byte") {
  std::string bytes(3'000'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  const auto answer = bytes_from_child("echo", plenty, [&] { return echo(bytes); });
  REQUIRE(answer.ok());
  CHECK(*answer == bytes);
  CHECK(bytes_from_child("empty", plenty, [] { return std::string(); })->empty());
}

TEST_CASE("a crash, an exit, an exception and a hang of a child are told apart") {
  const auto crash = bytes_from_child("libbad", plenty, []() -> std::string { std::abort(); });
  CHECK(crash.error() == Error{0, "libbad: crashed with signal 6"});
  const auto exit = bytes_from_child("libbad", plenty, []() -> std::string { _exit(7); });
  CHECK(exit.error() == Error{0, "libbad: ended its process with status 7"});
  const auto thrown = bytes_from_child("libbad", plenty, []() -> std::string { throw std::runtime_error("x"); });
  CHECK(thrown.error() == Error{0, "libbad: ended its process with status 70"});
  const auto hang = bytes_from_child("libbad", little, []() -> std::string {
    for (;;) pause();
  });
  CHECK(hang.error() == Error{ETIMEDOUT, "libbad: no answer within 100 ms"});
}

TEST_CASE("a child that ignores signals and leaves children of its own is gone with all of them") {
  std::array<int, 2> alive{};
  REQUIRE(pipe(alive.data()) == 0);
  const auto hang = bytes_from_child("stubborn", little, [&]() -> std::string {
    for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
    if (fork() >= 0) {
      for (;;) pause();  // both hold the pipe open
    }
    return "";
  });
  CHECK(hang.error().number == ETIMEDOUT);
  close(alive[1]);
  char byte = 0;
  CHECK(read(alive[0], &byte, 1) == 0);  // the end of the pipe: nobody is left to write
  close(alive[0]);
}

TEST_CASE("a grandchild that keeps the pipe open does not keep us") {
  const auto answer = bytes_from_child("daemon", plenty, [] {
    if (fork() == 0) {
      for (;;) pause();
    }
    return std::string("done");
  });
  CHECK(*answer == "done");
}

TEST_CASE("a child keeps its hands off our terminal, group and core files") {
  const auto answer = bytes_from_child("quiet", plenty, [] {
    struct stat out = {};
    struct stat null = {};
    fstat(STDOUT_FILENO, &out);
    stat("/dev/null", &null);
    rlimit core = {};
    getrlimit(RLIMIT_CORE, &core);
    std::string text = out.st_rdev == null.st_rdev ? "silent " : "loud ";
    text += getpgrp() == getpid() ? "own " : "shared ";
    text += core.rlim_cur <= 1 ? "coreless" : "core";
    return text;
  });
  CHECK(*answer == "silent own coreless");
}

TEST_CASE("a child's end is known although our caller ignored SIGCHLD") {
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignore, &before);
  const auto answer = bytes_from_child("exit", plenty, []() -> std::string { _exit(3); });
  struct sigaction after = {};
  sigaction(SIGCHLD, &before, &after);
  CHECK(answer.error().text == "exit: ended its process with status 3");
  CHECK((after.sa_handler == SIG_IGN));
}

TEST_CASE("what goes beyond the cap of a pipe is dropped and said") {
  const auto outcome = run_child(
      [](const std::vector<int>& pipes) {
        const std::string text(500'000, 'x');
        std::size_t sent = 0;
        while (sent < text.size()) sent += static_cast<std::size_t>(write(pipes[0], text.data(), text.size() - sent));
        return write(pipes[1], "ok", 2) == 2 ? 0 : 1;
      },
      {1000, 1000}, plenty);
  REQUIRE(outcome.ok());
  CHECK(outcome->exit_status == 0);
  CHECK(outcome->streams[0].bytes == std::string(1000, 'x'));
  CHECK(outcome->streams[0].cut);
  CHECK(outcome->streams[1].bytes == "ok");
  CHECK_FALSE(outcome->streams[1].cut);
}

TEST_CASE("a flood does not outlast the deadline") {
  const auto outcome = run_child(
      [](const std::vector<int>& pipes) {
        const std::string text(65'536, 'x');
        for (;;) (void)!write(pipes[0], text.data(), text.size());
        return 0;
      },
      {10}, enough);
  REQUIRE(outcome.ok());
  CHECK(outcome->timed_out);
  CHECK(outcome->streams[0].bytes == "xxxxxxxxxx");
}

TEST_CASE("no child is left to reap and no descriptor open") {
  const int before = dup(STDOUT_FILENO);
  for (int i = 0; i < 20; ++i) {
    const auto child = call_in_child<pid_t>("number", plenty, []() -> Result<pid_t> { return getpid(); });
    REQUIRE(child.ok());
    CHECK(waitpid(*child, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
  }
  const int after = dup(STDOUT_FILENO);
  CHECK(after == before + 1);
  close(before);
  close(after);
}

TEST_CASE("typed answers and errors survive the way from the child") {
  const auto status = call_in_child<FileStatus>("s", plenty, []() -> Result<FileStatus> {
    return FileStatus{FileType::block_device, 0660, 1, 2, 3, 4, std::uint64_t{1} << 40, 6};
  });
  REQUIRE(status.ok());
  CHECK(status->type == FileType::block_device);
  CHECK(status->size == std::uint64_t{1} << 40);
  CHECK(status->inode == 6);

  const auto names = call_in_child<std::vector<std::string>>("n", plenty, []() -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"a", "", "c\0d"};
  });
  CHECK(*names == std::vector<std::string>{"a", "", "c\0d"});

  const auto failed = call_in_child<std::string>("f", plenty, []() -> Result<std::string> {
    return Error{EACCES, "no"};
  });
  CHECK(failed.error() == Error{EACCES, "no"});
}

}  // namespace sage
