#include "doctor/cli/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <spdlog/spdlog.h>

#include "doctor/cli/output.hpp"
#include "doctor/report/wrap.hpp"

namespace sage {
namespace {

constexpr const char* empty_line = "\r\x1b[K";

}  // namespace

bool progress_on_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb" &&
         std::getenv("CI") == nullptr;
}

Progress::Progress(bool verbose) : verbose_(verbose), terminal_(!verbose && progress_on_terminal()) {}

Progress::~Progress() {
  if (terminal_) std::fputs(empty_line, stderr);
}

void Progress::tell(std::string_view what) {
  const std::string text = printable(what);
  if (verbose_) spdlog::info("{}", text);
  if (!terminal_) return;
  // One column stays free, so that no terminal goes on to the next line.
  const std::string line = text.substr(0, output_width() - 1);
  std::fprintf(stderr, "%s%s", empty_line, line.c_str());
  std::fflush(stderr);
}

}  // namespace sage
