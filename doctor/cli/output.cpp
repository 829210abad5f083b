#include "doctor/cli/output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include <spdlog/spdlog.h>

#include "probes/base/errno_name.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t default_width = 80;
constexpr std::size_t smallest_width = 20;
constexpr std::size_t largest_width = 500;

bool set_and_not_empty(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

void prepare_standard_streams() {
  for (const int descriptor : {0, 1, 2}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // open() takes the lowest free number, which is this one.
    if (open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR) == -1) std::abort();
  }
  std::signal(SIGPIPE, SIG_IGN);
}

bool stdout_takes_text() {
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  return flags != -1 && (flags & O_ACCMODE) != O_RDONLY;
}

int write_product(std::string_view text, int status) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE || errno == EBADF) {
      return status;
    } else if (errno != EINTR) {
      spdlog::error("{}", system_error(errno, "cannot write to stdout").text);
      return exit_usage;
    }
  }
  return status;
}

std::size_t output_width() {
  if (const char* text = std::getenv("COLUMNS")) {
    if (const auto number = parse_number(text); number && *number > 0) {
      return std::clamp<std::size_t>(*number, smallest_width, largest_width);
    }
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::clamp<std::size_t>(size.ws_col, smallest_width, largest_width);
  }
  return default_width;
}

bool output_colour(ColourChoice choice) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  if (set_and_not_empty("NO_COLOR") || set_and_not_empty("CI")) return false;
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return isatty(STDOUT_FILENO) == 1;
}

}  // namespace sage
