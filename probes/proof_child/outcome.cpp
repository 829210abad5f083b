#include "probes/proof_child/outcome.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <utility>

#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t longest_message = 300;

constexpr auto signal_names = std::to_array<std::pair<int, std::string_view>>({
    {SIGABRT, "SIGABRT"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},
    {SIGTRAP, "SIGTRAP"}, {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
    {SIGSYS, "SIGSYS"},   {SIGPIPE, "SIGPIPE"}, {SIGINT, "SIGINT"},   {SIGHUP, "SIGHUP"},
});

std::string signal_name(int number) {
  for (const auto& [known, name] : signal_names) {
    if (known == number) return std::string(name);
  }
  return "signal " + std::to_string(number);
}

std::string outcome(bool timed_out, int signal, int exit_status, std::chrono::seconds deadline) {
  if (timed_out) return "deadline of " + std::to_string(deadline.count()) + " s passed";
  if (signal != 0) return "killed by " + signal_name(signal);
  if (exit_status != 0) return "exit status " + std::to_string(exit_status);
  return std::string(outcome_ok);
}

}  // namespace

std::string outcome_of(const ProgramOutput& end, std::chrono::seconds deadline) {
  return outcome(end.timed_out, end.signal, end.exit_status, deadline);
}

std::string outcome_of(const ChildOutcome& end, std::chrono::seconds deadline) {
  return outcome(end.timed_out, end.signal, end.exit_status, deadline);
}

std::string brief(std::string_view text) {
  std::string line;
  for (const char c : trim(text)) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr unsigned char first_printable = 0x20;
    constexpr unsigned char last_ascii = 0x7e;
    line += byte >= first_printable && byte <= last_ascii ? c : ' ';
    if (line.size() == longest_message) break;
  }
  return line;
}

std::string last_line(std::string_view talk) {
  std::string_view last;
  for (const std::string_view line : lines(talk)) {
    if (!trim(line).empty()) last = line;
  }
  return brief(last);
}

std::string decisive_line(std::string_view talk) {
  for (const std::string_view line : lines(talk)) {
    constexpr std::string_view mark = "error: ";
    const std::size_t at = line.find(mark);
    if (at != std::string_view::npos) return brief(line.substr(at + mark.size()));
  }
  return last_line(talk);
}

}  // namespace sage
