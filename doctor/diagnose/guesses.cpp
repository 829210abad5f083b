#include "doctor/diagnose/guesses.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "doctor/messages/expression.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t most_guesses = 3;
constexpr std::size_t shortest_word = 3;
constexpr std::size_t fewest_shared = 2;
constexpr double smallest_part = 0.4;  ///< of an example's weight that the line has to share
constexpr std::size_t widest_example = 160;

/// Words that every message has, and that make none like another.
const std::set<std::string_view>& common_words() {
  static const std::set<std::string_view> words = {"and",    "are",   "but",  "can",  "cannot", "could",  "error",
                                                   "failed", "fatal", "file", "for",  "found",  "from",   "has",
                                                   "have",   "not",   "line", "the",  "this",   "that",   "too",
                                                   "was",    "were",  "will", "with", "you",    "warning"};
  return words;
}

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  const auto end_word = [&] {
    const bool number = word.find_first_not_of("0123456789") == std::string::npos;
    if (word.size() >= shortest_word && !number && !common_words().contains(word)) words.insert(word);
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

struct Example {
  const LogRule* rule;
  std::string_view text;  ///< one line
  std::set<std::string> words;
};

class Guesser {
 public:
  explicit Guesser(const LogRules& rules) {
    for (const LogRule& rule : rules.rules) {
      std::set<std::string> of_rule;
      for (const std::string& text : rule.examples) {
        for (const std::string_view line : lines(text)) {
          examples_.push_back({&rule, line, words_of(line)});
          of_rule.insert(examples_.back().words.begin(), examples_.back().words.end());
        }
      }
      for (const std::string& word : of_rule) ++rules_with_[word];
    }
    rule_count_ = rules.rules.size();
  }

  [[nodiscard]] std::vector<LogGuess> run(const std::vector<NumberedLine>& suspects) const {
    std::map<const LogRule*, std::pair<double, LogGuess>> best;
    for (const NumberedLine& suspect : suspects) {
      const std::set<std::string> words = words_of(suspect.text);
      for (const Example& example : examples_) {
        const auto [score, shared] = compare(words, example);
        if (score <= 0) continue;
        auto& [best_score, guess] = best[example.rule];
        if (score <= best_score) continue;
        best_score = score;
        guess = {example.rule->name,
                 example.rule->causes.front().finding,
                 shortened(example.text, widest_example),
                 suspect.number,
                 suspect.text,
                 shared};
      }
    }
    std::vector<std::pair<double, LogGuess>> order;
    for (auto& [rule, scored] : best) order.push_back(std::move(scored));
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<LogGuess> guesses;
    for (auto& [score, guess] : order) {
      if (guesses.size() < most_guesses) guesses.push_back(std::move(guess));
    }
    return guesses;
  }

 private:
  [[nodiscard]] double weight(const std::string& word) const {
    const auto found = rules_with_.find(word);
    return found == rules_with_.end()
               ? 0
               : std::log(1.0 + static_cast<double>(rule_count_) / static_cast<double>(found->second));
  }

  [[nodiscard]] std::pair<double, std::vector<std::string>> compare(const std::set<std::string>& words,
                                                                    const Example& example) const {
    double all = 0;
    double common = 0;
    std::vector<std::string> shared;
    for (const std::string& word : example.words) {
      const double of_word = weight(word);
      all += of_word;
      if (!words.contains(word)) continue;
      common += of_word;
      shared.push_back(word);
    }
    if (shared.size() < fewest_shared || common < smallest_part * all) return {0, {}};
    return {common * common / all, std::move(shared)};
  }

  std::vector<Example> examples_;
  std::map<std::string, std::size_t> rules_with_;  ///< word to the number of rules whose examples have it
  std::size_t rule_count_ = 0;
};

}  // namespace

std::vector<LogGuess> guess(const std::vector<NumberedLine>& lines, const LogRules& rules) {
  return Guesser(rules).run(lines);
}

}  // namespace sage
