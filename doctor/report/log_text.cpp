#include "doctor/report/log_text.hpp"

#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string counted(std::uint64_t number, const std::string& thing) {
  return with_commas(number) + " " + thing + (number == 1 ? "" : "s");
}

}  // namespace

std::string unknown_part_text(const LogSummary& log, std::size_t width) {
  std::string text;
  const auto say = [&](const std::string& words, std::string_view first, std::string_view rest) {
    text += wrapped(printable(words), first, rest, width);
  };
  if (log.nothing_known()) {
    say(log.unknown.empty() ? "No rule knows what this log says, and no line looks like a failure."
                            : "No rule knows what this log says.",
        "", "");
  } else if (!log.unknown.empty()) {
    say("No failure that is known stands in this log.", "", "");
  }
  if (!log.unknown.empty()) {
    say("Lines that look like a failure:", "", "");
    for (const UnknownLogLine& row : log.unknown) {
      say(log.name + ":" + std::to_string(row.line) + ": " + row.text, "  - ", "    ");
    }
  }
  if (!log.guesses.empty()) {
    text += '\n';
    say("Guesses, not a diagnosis: the known messages that come nearest.", "", "");
    for (const LogGuess& guess : log.guesses) {
      say(guess.finding + ": " + guess.example, "  ? ", "    ");
      say("line " + std::to_string(guess.line) + " shares: " + join(guess.shared, ", "), "      ", "      ");
      text += "      More: sage-doctor explain " + guess.finding + "\n";
    }
  }
  if (!text.empty()) text += '\n';
  return text;
}

std::string extent_text(const LogSummary& log) {
  std::string text = counted(log.lines, "line") + ", " + human_bytes(log.bytes);
  if (log.encoding != "UTF-8") text += " of " + log.encoding;
  return text + ", " + counted(log.rules, "rule");
}

}  // namespace sage
