#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "doctor/diagnose/clean_line.hpp"
#include "doctor/diagnose/literal_finder.hpp"
#include "doctor/diagnose/log_reader.hpp"
#include "doctor/diagnose/rule_expressions.hpp"
#include "doctor/diagnose/rules.hpp"
#include "doctor/diagnose/suspects.hpp"
#include "doctor/diagnose/traceback.hpp"

namespace sage {

/// A line that a rule matched.
struct MatchedLine {
  NumberedLine line;
  TracebackPart part = TracebackPart::none;
  std::vector<NumberedLine> frames;  ///< of an exception
};

/// What a rule found in a log: its matches with the same subject and the same candidates.
struct LogMessage {
  const LogRule* rule = nullptr;
  std::string subject;
  std::vector<const CandidateCause*> candidates;
  Words words;                     ///< of the first match
  std::vector<MatchedLine> lines;  ///< the first few that differ in more than numbers; of tracebacks the exceptions
  std::uint64_t count = 0;         ///< of lines
  std::uint64_t frame_count = 0;   ///< of these, source lines in tracebacks
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Looks for the messages of all rules in the lines of a log. Memory is bounded whatever comes.
class LogMatcher {
 public:
  static constexpr std::size_t most_lines = 5;      ///< kept of a message
  static constexpr std::size_t most_subjects = 20;  ///< of a rule; later ones are left out
  static constexpr std::uint64_t near_lines = 40;
  static constexpr std::uint64_t enough_matches = 10'000;  ///< of a rule; from then on its count stands still

  /// `expressions` are those of `rules`.
  LogMatcher(const LogRules& rules, RuleExpressions& expressions);

  void look_at(const LogLine& line);

  /// By the first line.
  [[nodiscard]] std::vector<LogMessage> messages() const;
  [[nodiscard]] const Suspects& suspects() const { return suspects_; }

 private:
  struct Match {
    std::uint64_t number = 0;
    MatchedLine line;
    Words words;
  };
  struct State {
    std::uint64_t matches = 0;
    std::uint64_t last_number = 0;
    std::uint64_t last_near = 0;       ///< line of the last one that `near` matches
    std::uint64_t near_looked_to = 0;  ///< line up to which that is known
    std::deque<Match> waiting;         ///< for a line near by
    std::size_t subjects = 0;
  };
  struct PastLine {
    std::uint64_t number = 0;
    std::string text;
  };
  using Key = std::tuple<std::size_t, std::string, std::vector<std::size_t>>;

  void look_at_part(std::uint64_t number, std::string_view text);
  [[nodiscard]] bool try_rules(std::uint64_t number, std::string_view text, TracebackPart part);
  /// False while the match waits for a line near by.
  bool matched(std::size_t rule, Match match);
  void look_near(std::size_t rule, std::uint64_t number, std::string_view text);
  void look_back(std::size_t rule);
  void remember(std::uint64_t number, std::string_view text);
  void take(std::size_t rule, Match match);
  [[nodiscard]] bool has_enough(std::size_t rule) const { return states_[rule].matches >= enough_matches; }
  void forget_keys();

  const LogRules& rules_;
  RuleExpressions& expressions_;
  std::size_t keys_ = 0;      ///< the first literals of first_look_ are those without which no rule matches
  LiteralFinder first_look_;  ///< at every line
  LineCleaner cleaner_;
  TracebackFollower traceback_;
  Suspects suspects_;
  std::vector<State> states_;         ///< by rule
  std::vector<std::size_t> waiting_;  ///< rules that wait for a line near by
  std::vector<PastLine> past_;        ///< the last lines, in a ring
  std::size_t next_past_ = 0;
  std::map<Key, LogMessage> messages_;
  std::vector<bool> key_is_done_;  ///< all rules that need it have had enough matches
};

}  // namespace sage
