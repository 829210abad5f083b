#include "doctor/diagnose/matcher.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sage {
namespace {

constexpr std::size_t widest_line = 300;
constexpr std::size_t most_waiting = 64;
constexpr std::size_t past_lines = 2 * (LogMatcher::near_lines + 1);  // two parts of each
constexpr std::size_t widest_past_line = 2048;

/// The beginnings are enough for the first look, and short literals are found faster.
std::vector<std::string> first_literals(std::vector<std::string> keys) {
  constexpr std::size_t enough = 12;
  keys.emplace_back(TracebackFollower::beginning);
  keys.insert(keys.end(), Suspects::words().begin(), Suspects::words().end());
  for (std::string& key : keys) key.resize(std::min(key.size(), enough));
  return keys;
}

/// "RuntimeError: ..." tells the message; the source line above it, where it was raised, only repeats it.
void keep_what_counts(LogMessage& message) {
  const auto is_exception = [](const MatchedLine& line) { return line.part == TracebackPart::exception; };
  if (std::none_of(message.lines.begin(), message.lines.end(), is_exception)) return;
  std::erase_if(message.lines, [](const MatchedLine& line) { return line.part == TracebackPart::frame; });
  message.count -= message.frame_count;
}

/// But for numbers, such as times.
bool says_the_same(const MatchedLine& a, const MatchedLine& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return a.part == b.part && std::equal(a.line.text.begin(), a.line.text.end(), b.line.text.begin(), b.line.text.end(),
                                        [&](char x, char y) { return x == y || (digit(x) && digit(y)); });
}

bool matches_near(const LogRule& rule, std::string_view line) {
  return std::any_of(rule.near.begin(), rule.near.end(),
                     [&](const ExpressionPointer& expression) { return found_in(*expression, line); });
}

}  // namespace

LogMatcher::LogMatcher(const LogRules& rules, RuleExpressions& expressions)
    : rules_(rules),
      expressions_(expressions),
      keys_(expressions.keys().size()),
      first_look_(first_literals(expressions.keys())),
      states_(rules.rules.size()),
      past_(past_lines),
      key_is_done_(keys_, false) {}

void LogMatcher::look_at(const LogLine& line) {
  for (const std::string_view part : cleaner_.parts(line.text)) look_at_part(line.number, part);
}

void LogMatcher::look_at_part(std::uint64_t number, std::string_view text) {
  bool possible = false;
  bool known_well = false;  // it has the key of rules that are not looked for any more
  bool traceback_begins = false;
  bool suspect = false;
  for (const int literal : first_look_.find(text)) {
    const auto index = static_cast<std::size_t>(literal);
    if (index < keys_) (key_is_done_[index] ? known_well : possible) = true;
    traceback_begins = traceback_begins || index == keys_;
    suspect = suspect || index > keys_;
  }
  TracebackPart part = TracebackPart::none;
  if (traceback_begins || traceback_.inside()) part = traceback_.look_at(number, text);
  if (suspects_.wants_plain()) suspects_.add_plain(number, text);
  remember(number, text);
  for (const std::size_t rule : std::exchange(waiting_, {})) look_near(rule, number, text);
  if ((possible && try_rules(number, text, part)) || known_well) return;
  if (part == TracebackPart::exception) {
    suspects_.add_exception(number, text);
  } else if (suspect && part == TracebackPart::none) {
    suspects_.add(number, text);
  }
}

bool LogMatcher::try_rules(std::uint64_t number, std::string_view text, TracebackPart part) {
  std::vector<std::pair<std::size_t, Match>> matches;
  std::set<std::size_t> settled;  // rules with a match in this line
  bool cause_here = false;
  bool known = false;
  for (const int expression : expressions_.possible_in(text)) {
    const std::size_t rule = expressions_.rule_of(expression);
    const bool is_cause = rules_.rules[rule].kind == MessageKind::cause;
    if (has_enough(rule)) {
      // Not looked for any more, but a line that has its literals is surely not for a more general rule.
      known = true;
      cause_here = cause_here || (is_cause && rules_.rules[rule].near.empty());
      continue;
    }
    if (settled.contains(rule)) continue;
    auto found = find_message(expressions_.expression(expression), text);
    if (!found) continue;
    settled.insert(rule);
    known = true;
    if (states_[rule].last_number == number) {  // in another part of this line
      cause_here = cause_here || is_cause;
      continue;
    }
    if (traceback_.continues_message(number)) part = TracebackPart::exception;
    MatchedLine line{{number, shortened_around(text, found->at, widest_line)}, part, {}};
    if (part == TracebackPart::exception) line.frames = traceback_.last_frames();
    matches.emplace_back(rule, Match{number, std::move(line), std::move(found->words)});
  }
  const auto is_general = [&](const auto& one) { return rules_.rules[one.first].kind == MessageKind::general; };
  std::stable_partition(matches.begin(), matches.end(), [&](const auto& one) { return !is_general(one); });
  for (auto& one : matches) {
    if (cause_here && is_general(one)) break;
    const bool taken = matched(one.first, std::move(one.second));
    cause_here = cause_here || (taken && rules_.rules[one.first].kind == MessageKind::cause);
  }
  return known;
}

void LogMatcher::remember(std::uint64_t number, std::string_view text) {
  const auto back = [&](std::size_t steps) { return (next_past_ + past_.size() - steps) % past_.size(); };
  // Of a line with many parts, such as a progress bar, the first and the latest.
  const bool third_part = past_[back(1)].number == number && past_[back(2)].number == number;
  PastLine& place = past_[third_part ? back(1) : next_past_];
  place.number = number;
  place.text.assign(text.substr(0, widest_past_line));
  if (!third_part) next_past_ = back(past_.size() - 1);
}

/// Lines before a match are looked at when there is one, each at most once for a rule.
void LogMatcher::look_back(std::size_t rule) {
  State& state = states_[rule];
  for (std::size_t i = 0; i < past_.size(); ++i) {
    const PastLine& line = past_[(next_past_ + i) % past_.size()];
    if (line.number > state.near_looked_to && matches_near(rules_.rules[rule], line.text))
      state.last_near = line.number;
  }
  state.near_looked_to = past_[(next_past_ + past_.size() - 1) % past_.size()].number;
}

void LogMatcher::look_near(std::size_t rule, std::uint64_t number, std::string_view text) {
  State& state = states_[rule];
  state.near_looked_to = number;
  std::erase_if(state.waiting, [&](const Match& match) { return match.number + near_lines < number; });
  if (matches_near(rules_.rules[rule], text)) {
    state.last_near = number;
    for (Match& match : std::exchange(state.waiting, {})) take(rule, std::move(match));
  }
  if (!state.waiting.empty()) waiting_.push_back(rule);
}

bool LogMatcher::matched(std::size_t rule, Match match) {
  State& state = states_[rule];
  state.last_number = match.number;
  ++state.matches;
  if (has_enough(rule)) forget_keys();
  const bool needs_near = !rules_.rules[rule].near.empty();
  if (needs_near) look_back(rule);
  if (!needs_near || (state.last_near != 0 && state.last_near + near_lines >= match.number)) {
    take(rule, std::move(match));
    return true;
  }
  if (state.waiting.empty()) waiting_.push_back(rule);
  state.waiting.push_back(std::move(match));
  if (state.waiting.size() > most_waiting) state.waiting.pop_front();
  return false;
}

void LogMatcher::take(std::size_t rule_number, Match match) {
  const LogRule& rule = rules_.rules[rule_number];
  State& state = states_[rule_number];
  Key key{rule_number, rule.subject.empty() ? "" : filled(rule.subject, match.words), {}};
  std::vector<std::size_t>& candidates = std::get<2>(key);
  for (std::size_t i = 0; i < rule.causes.size(); ++i) {
    if (counts(rule.causes[i], match.words)) candidates.push_back(i);
  }
  if (candidates.empty()) return;

  auto place = messages_.find(key);
  if (place == messages_.end()) {
    if (state.subjects >= most_subjects) return;
    ++state.subjects;
    LogMessage message;
    message.rule = &rule;
    message.subject = std::get<1>(key);
    for (const std::size_t i : candidates) message.candidates.push_back(&rule.causes[i]);
    message.words = std::move(match.words);
    message.first = match.number;
    place = messages_.emplace(std::move(key), std::move(message)).first;
  }
  LogMessage& message = place->second;
  ++message.count;
  if (match.line.part == TracebackPart::frame) ++message.frame_count;
  message.first = std::min(message.first, match.number);
  message.last = std::max(message.last, match.number);
  std::vector<MatchedLine>& lines = message.lines;
  if (std::any_of(lines.begin(), lines.end(), [&](const MatchedLine& line) { return says_the_same(line, match.line); }))
    return;
  if (lines.size() < most_lines) {
    lines.push_back(std::move(match.line));
  } else if (match.line.part == TracebackPart::exception && lines.back().part != TracebackPart::exception) {
    lines.back() = std::move(match.line);
  }
}

std::vector<LogMessage> LogMatcher::messages() const {
  std::vector<LogMessage> messages;
  for (const auto& [key, message] : messages_) {
    messages.push_back(message);
    keep_what_counts(messages.back());
  }
  std::stable_sort(messages.begin(), messages.end(),
                   [](const LogMessage& a, const LogMessage& b) { return a.first < b.first; });
  return messages;
}

void LogMatcher::forget_keys() {
  for (std::size_t key = 0; key < keys_; ++key) {
    const std::vector<int>& users = expressions_.expressions_of_key(key);
    key_is_done_[key] =
        std::all_of(users.begin(), users.end(), [&](int user) { return has_enough(expressions_.rule_of(user)); });
  }
}

}  // namespace sage
