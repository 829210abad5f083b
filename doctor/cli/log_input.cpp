#include "doctor/cli/log_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "doctor/report/wrap.hpp"
#include "probes/base/errno_name.hpp"

namespace sage {
namespace {

constexpr int pipe_bytes = 1 << 20;

void say(const std::string& text) {
  const auto level = spdlog::get_level();
  spdlog::set_level(spdlog::level::info);
  spdlog::info("{}", printable(text));
  spdlog::set_level(level);
}

/// Whether there is something to read, or an end, within the time; -1 is for ever.
bool readable(int file, int milliseconds) {
  pollfd poll_for{file, POLLIN, 0};
  int ready = 0;
  do ready = poll(&poll_for, 1, milliseconds);
  while (ready == -1 && errno == EINTR);
  return ready > 0;
}

/// A read of a FIFO that nobody has opened for writing ends at once; this waits for somebody, as cat(1) does.
void wait_for_writer(int file, const std::string& path) {
  constexpr int soon = 500;  // a shell's <(command) begins to write in that time
  if (readable(file, soon)) return;
  say(path + " is a FIFO: waiting for what is written to it. Ctrl-C ends it");
  static_cast<void>(readable(file, -1));
}

Error unreadable(int number, const std::string& path) {
  Error why = system_error(number, "cannot read the log " + path);
  if (number == ENOENT) why.text += ". To read what a command says:  command 2>&1 | sage-doctor diagnose";
  if (number == EACCES) why.text += ". Read it as somebody who may:  sudo cat LOG | sage-doctor diagnose";
  return why;
}

/// What a file is that can't be a log; empty where it can.
std::string no_log(mode_t mode) {
  if (S_ISDIR(mode)) return "is a folder. Name a file in it, such as a build's log or the output of dmesg";
  if (S_ISBLK(mode)) return "is a disk";
  if (S_ISSOCK(mode)) return "is a socket";
  return {};
}

Result<LogInput> from_stdin() {
  LogInput input{Descriptor(dup(STDIN_FILENO)), "stdin"};
  struct stat status {};
  if (!input.file.valid() || fstat(STDIN_FILENO, &status) != 0)
    return system_error(errno, "cannot read standard input");
  if (const std::string what = no_log(status.st_mode); !what.empty()) return Error{0, "standard input " + what};
  if (isatty(STDIN_FILENO) == 1)
    say("waiting for a log from the terminal: paste it, then press Ctrl-D. Or name a file: sage-doctor diagnose LOG");
  return input;
}

}  // namespace

Result<LogInput> open_log(const std::string& path, const Host& host) {
  if (path.empty() || path == "-") return from_stdin();
  // The host does not wait forever for the server of a remote filesystem. All else the file says itself when it is
  // opened: /dev/fd/63 of a shell's <(command) has a path that leads nowhere.
  if (const auto status = host.status(path); !status.ok() && status.error().number == ETIMEDOUT) return status.error();
  LogInput input{Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)),
                 std::filesystem::path(path).filename()};
  if (!input.file.valid()) return unreadable(errno, path);
  const int file = input.file.number();
  struct stat status {};
  if (fstat(file, &status) != 0) return unreadable(errno, path);
  if (const std::string what = no_log(status.st_mode); !what.empty()) return Error{0, path + " " + what};
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  if (S_ISFIFO(status.st_mode)) {
    wait_for_writer(file, path);
    if (input.name.find_first_not_of("0123456789") == std::string::npos)
      input.name = "pipe";  // <(command) is /dev/fd/63
  }
  return input;
}

Result<std::size_t> read_some(const LogInput& log, char* into, std::size_t size) {
  while (true) {
    const ssize_t got = read(log.file.number(), into, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    // Standard input may have been made non-blocking by another program that shares it, as Node.js does.
    if (errno == EAGAIN && readable(log.file.number(), -1)) continue;
    if (errno != EINTR) return system_error(errno, "it cannot be read");
  }
}

}  // namespace sage
