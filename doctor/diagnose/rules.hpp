#pragma once

#include <re2/re2.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/checks/finding.hpp"
#include "doctor/messages/expression.hpp"
#include "probes/base/enum_names.hpp"

namespace sage {

/// What a rule's message is in the story of a failure.
enum class MessageKind {
  cause,        ///< tells a reason
  general,      ///< a wide expression, which gives way on a line that a cause matches too
  consequence,  ///< follows from a failure whose reason is told elsewhere, if at all
  advice,       ///< what somebody did or recommends and what does harm; explains nothing, told last
};

template <>
inline constexpr auto enum_names<MessageKind> = std::to_array<EnumName<MessageKind>>({
    {MessageKind::cause, "cause"},
    {MessageKind::general, "general"},
    {MessageKind::consequence, "consequence"},
    {MessageKind::advice, "advice"},
});

using ExpressionPointer = std::shared_ptr<const RE2>;

/// Named group and what its text must, or must not, match.
using Condition = std::pair<std::string, ExpressionPointer>;

/// A finding that a message may have its reason in. Texts are templates.
struct CandidateCause {
  std::string finding;  ///< id of a check, or "log." something
  std::vector<Condition> when;
  std::vector<Condition> unless;
  Confidence confidence = Confidence::possible;
  std::string cause;
  Remedy remedy;
  std::string verify;
  std::string ask;  ///< a command that would decide

  /// Whether only a log can show it.
  [[nodiscard]] bool of_log() const { return finding.starts_with("log."); }
};

/// One row of a rules file; docs/adding-a-rule.md has the format.
struct LogRule {
  std::string name;
  MessageKind kind = MessageKind::cause;
  Status status = Status::fail;
  std::vector<std::string> match;
  std::vector<ExpressionPointer> near;
  std::string subject;
  std::string says;
  std::vector<std::string> examples;
  std::vector<std::string> counter_examples;
  std::vector<std::string> sources;
  std::vector<CandidateCause> causes;
};

/// A finding that only logs show.
struct LogFinding {
  std::string id;
  std::string title;
};

struct LogRules {
  std::vector<LogRule> rules;
  std::vector<LogFinding> findings;
  std::vector<std::string> problems;  ///< of the texts, at most one a file; each names file, line and key

  [[nodiscard]] const LogFinding* find(std::string_view id) const;
};

/// Adds what one file has. A row with a problem is left out.
void read_log_rules(std::string_view text, std::string_view file, LogRules& rules);

/// The rules inside the binary, with a look across the files at the end: names that occur twice, findings that nobody
/// declares.
[[nodiscard]] LogRules embedded_rules_for_logs();

/// Whether a candidate counts for a message with these words.
[[nodiscard]] bool counts(const CandidateCause& cause, const Words& words);

}  // namespace sage
