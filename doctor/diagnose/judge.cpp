#include "doctor/diagnose/judge.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "doctor/checks/registry.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t most_reasons = 5;

enum class Standing { confirmed, excluded, open };

/// What the machine says of one candidate.
struct Verdict {
  Standing standing = Standing::open;
  std::vector<const Finding*> findings;  ///< that confirm it
  bool by_root = false;                  ///< they are of a failed check that the candidate's own check waits for
  bool no_need = false;                  ///< excluded because this kind of machine never has it
  std::string why;                       ///< it is excluded, or open
};

Verdict left_open(std::string why) {
  Verdict verdict;
  verdict.why = std::move(why);
  return verdict;
}

std::size_t weight(Status status) {
  switch (status) {
    case Status::fail: return 2;
    case Status::warn: return 1;
    case Status::pass:
    case Status::info:
    case Status::skip:
    case Status::error: break;
  }
  return 0;
}

/// A sentence that another may follow.
std::string sentence(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text + ".";
}

class Judge {
 public:
  Judge(const LogRules& rules, const std::string& log, const std::optional<MachineVerdicts>& machine)
      : rules_(rules), log_(log), machine_(machine) {}

  std::vector<Finding> run(const std::vector<LogMessage>& messages) {
    // Those that can mean one thing only come first: they decide what the others mean.
    for (const bool several : {false, true}) {
      for (const LogMessage& message : messages) {
        if (is_reason(message) && (message.candidates.size() > 1) == several) settle(message);
      }
    }
    const bool explained = std::any_of(settled_.begin(), settled_.end(), [](const Settled& one) {
      return !one.advice && weight(one.finding.status) > 0;
    });
    for (const LogMessage& message : messages) {
      if (!is_reason(message) && !explained) settle(message);
    }
    std::stable_sort(settled_.begin(), settled_.end(), [](const Settled& a, const Settled& b) {
      return std::pair(a.advice, a.first) < std::pair(b.advice, b.first);
    });
    std::vector<Finding> findings;
    for (Settled& one : settled_) {
      one.finding.evidence.insert(one.finding.evidence.begin(), one.log_lines.begin(), one.log_lines.end());
      findings.push_back(std::move(one.finding));
    }
    return findings;
  }

 private:
  struct Settled {
    Finding finding;
    std::vector<Evidence> log_lines;
    std::uint64_t first = 0;  ///< line
    bool advice = false;      ///< nothing but advice led to it
  };

  static bool is_reason(const LogMessage& message) { return message.rule->kind != MessageKind::consequence; }

  [[nodiscard]] Verdict verdict(const CandidateCause& cause, const LogMessage& message) const {
    if (cause.of_log()) return {};
    if (!machine_) return left_open("no machine was looked at");
    std::vector<const Finding*> of_check;
    for (const Finding& finding : machine_->findings) {
      if (finding.id == cause.finding) of_check.push_back(&finding);
    }
    Verdict found;
    std::size_t worst = 0;
    for (const Finding* finding : of_check) worst = std::max(worst, weight(finding->status));
    if (worst > 0) {
      found.standing = Standing::confirmed;
      for (const Finding* finding : of_check) {
        if (weight(finding->status) == worst) found.findings.push_back(finding);
      }
      keep_named_subjects(found.findings, message);
      return found;
    }
    for (const Finding* finding : of_check) {
      found.findings = failures_of(finding->blocked_by);
      if (found.findings.empty()) continue;
      found.standing = Standing::confirmed;
      found.by_root = true;
      return found;
    }
    for (const Finding* finding : of_check) {
      if ((finding->status != Status::skip || does_not_apply(*finding)) && finding->status != Status::error) continue;
      found.why = finding->observed;
      return found;
    }
    if (of_check.empty()) return left_open("the check did not run");
    found.standing = Standing::excluded;
    found.why = of_check.front()->observed;
    found.no_need = std::all_of(of_check.begin(), of_check.end(), [](const Finding* finding) { return does_not_apply(*finding); });
    return found;
  }

  [[nodiscard]] std::vector<const Finding*> failures_of(const std::string& id) const {
    std::vector<const Finding*> failures;
    for (const Finding& finding : machine_->findings) {
      if (finding.id == id && finding.status == Status::fail) failures.push_back(&finding);
    }
    return failures;
  }

  /// Where the log names the subject of some of the findings (an environment, a library), it is about these.
  static void keep_named_subjects(std::vector<const Finding*>& findings, const LogMessage& message) {
    const auto named = [&](const Finding* finding) {
      return !finding->subject.empty() &&
             std::any_of(message.lines.begin(), message.lines.end(), [&](const MatchedLine& line) {
               const auto names_it = [&](const NumberedLine& text) { return contains(text.text, finding->subject); };
               return names_it(line.line) || std::any_of(line.frames.begin(), line.frames.end(), names_it);
             });
    };
    if (std::none_of(findings.begin(), findings.end(), named)) return;
    std::erase_if(findings, [&](const Finding* finding) { return !named(finding); });
  }

  void settle(const LogMessage& message) {
    std::vector<Verdict> verdicts;
    for (const CandidateCause* cause : message.candidates) verdicts.push_back(verdict(*cause, message));
    const auto first = [&](Standing standing) {
      return static_cast<std::size_t>(std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& one) {
               return one.standing == standing;
             }) - verdicts.begin());
    };
    const std::vector<Evidence> excluded = names_of_excluded(message, verdicts);
    if (const std::size_t i = best_confirmed(verdicts); i < verdicts.size()) {
      for (const Finding* finding : verdicts[i].findings) add(confirmed(*finding, verdicts[i].by_root, message, excluded), message);
    } else if (Settled* known = settled_candidate(message, verdicts)) {
      add_lines(*known, message);
    } else if (const std::size_t open = first(Standing::open); open < verdicts.size()) {
      Finding finding = open_finding(*message.candidates[open], verdicts[open], message, excluded);
      finding.cause += other_causes(message, verdicts, open);
      add(std::move(finding), message);
    } else {
      add(all_excluded(message, reasons_of_excluded(message, verdicts)), message);
    }
  }

  /// The first one whose check fails; else one whose check waits for a failed one; else one whose check warns.
  static std::size_t best_confirmed(const std::vector<Verdict>& verdicts) {
    std::size_t best = verdicts.size();
    std::size_t most = 0;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i].standing != Standing::confirmed) continue;
      const Verdict& one = verdicts[i];
      const std::size_t of_this = one.by_root ? 2 : one.findings.front()->status == Status::fail ? 3 : 1;
      if (of_this <= most) continue;
      most = of_this;
      best = i;
    }
    return best;
  }

  [[nodiscard]] Settled* settled_candidate(const LogMessage& message, const std::vector<Verdict>& verdicts) {
    if (message.candidates.size() < 2) return nullptr;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i].standing != Standing::open) continue;
      const auto known = std::find_if(settled_.begin(), settled_.end(), [&](const Settled& one) {
        return one.finding.id == message.candidates[i]->finding && weight(one.finding.status) > 0;
      });
      if (known != settled_.end()) return &*known;
    }
    return nullptr;
  }

  /// One row; a rule may have twenty candidates. Those that the kind of machine rules out go without saying.
  static std::vector<Evidence> names_of_excluded(const LogMessage& message, const std::vector<Verdict>& verdicts) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i].standing == Standing::excluded && !verdicts[i].no_need) ids.push_back(message.candidates[i]->finding);
    }
    if (ids.empty()) return {};
    return {{"excluded here", join(ids, ", ")}};
  }

  /// A row for each of the first few; what does not apply only where there is nothing else.
  static std::vector<Evidence> reasons_of_excluded(const LogMessage& message, const std::vector<Verdict>& verdicts) {
    std::vector<Evidence> rows;
    for (const bool no_need : {false, true}) {
      for (std::size_t i = 0; i < verdicts.size() && rows.size() < most_reasons; ++i) {
        if (verdicts[i].no_need == no_need) rows.push_back({"excluded here, " + message.candidates[i]->finding, verdicts[i].why});
      }
      if (!rows.empty()) break;
    }
    return rows;
  }

  /// The check's own finding. What it only warns of has happened, if the log shows a failure; that this is the cause is
  /// likely then, not certain.
  static Finding confirmed(const Finding& of_check, bool by_root, const LogMessage& message,
                           const std::vector<Evidence>& excluded) {
    Finding finding = of_check;
    if (weight(message.rule->status) > weight(finding.status)) {
      finding.status = message.rule->status;
      finding.confidence = std::max(finding.confidence, Confidence::likely);
    }
    finding.observed = sentence(says(message)) + (by_root ? " This machine shows why: " : " This machine confirms it: ") + of_check.observed;
    finding.evidence.insert(finding.evidence.end(), excluded.begin(), excluded.end());
    return finding;
  }

  [[nodiscard]] Finding open_finding(const CandidateCause& cause, const Verdict& verdict, const LogMessage& message,
                                     const std::vector<Evidence>& excluded) const {
    Finding finding = named(cause.finding, message);
    finding.status = message.rule->status;
    finding.observed = says(message);
    finding.evidence = excluded;
    finding.cause = sentence(filled(cause.cause, message.words));
    if (!verdict.why.empty()) finding.cause += " Not confirmed: " + sentence(verdict.why);
    finding.confidence = cause.confidence;
    finding.remedies = {cause.remedy};
    finding.remedies.front().text = filled(cause.remedy.text, message.words);
    finding.verify = cause.verify;
    finding.ask = cause.ask;
    return finding;
  }

  /// " It can also be a, b or c."
  static std::string other_causes(const LogMessage& message, const std::vector<Verdict>& verdicts, std::size_t chosen) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const std::string& id = message.candidates[i]->finding;
      const bool known = id == message.candidates[chosen]->finding || std::find(ids.begin(), ids.end(), id) != ids.end();
      if (verdicts[i].standing == Standing::open && !known) ids.push_back(id);
    }
    if (ids.empty()) return {};
    const std::string last = std::move(ids.back());
    ids.pop_back();
    return " It can also be " + (ids.empty() ? "" : join(ids, ", ") + " or ") + last + ".";
  }

  [[nodiscard]] Finding all_excluded(const LogMessage& message, const std::vector<Evidence>& excluded) const {
    Finding finding = named(message.candidates.front()->finding, message);
    finding.status = message.rule->status == Status::info ? Status::info : Status::warn;
    finding.observed = sentence(says(message)) + " This machine does not show it now.";
    finding.evidence = excluded;
    finding.cause = "What is known to cause it is excluded here. The log may be older than the last change, or come from "
                    "another machine, container or environment.";
    finding.confidence = Confidence::possible;
    return finding;
  }

  [[nodiscard]] Finding named(const std::string& id, const LogMessage& message) const {
    Finding finding;
    finding.id = id;
    finding.subject = message.subject;
    if (const Check* check = find_check(id)) {
      finding.title = check->title;
      finding.topic = check->topic;
    } else {
      const LogFinding* of_log = rules_.find(id);
      finding.title = of_log == nullptr ? id : of_log->title;
      finding.topic = Topic::log;
    }
    return finding;
  }

  static std::string says(const LogMessage& message) { return filled(message.rule->says, message.words); }

  void add(Finding finding, const LogMessage& message) {
    const bool advice = message.rule->kind == MessageKind::advice;
    const auto same = std::find_if(settled_.begin(), settled_.end(), [&](const Settled& one) {
      return one.finding.id == finding.id && one.finding.subject == finding.subject;
    });
    if (same != settled_.end()) {
      if (weight(finding.status) > weight(same->finding.status)) same->finding = std::move(finding);
      same->advice = same->advice && advice;
      add_lines(*same, message);
      return;
    }
    settled_.push_back({std::move(finding), {}, message.first, advice});
    add_lines(settled_.back(), message);
  }

  void add_lines(Settled& one, const LogMessage& message) {
    one.first = std::min(one.first, message.first);
    const auto add_line = [&](const NumberedLine& line) {
      Evidence row{log_ + ":" + std::to_string(line.number), line.text};
      const bool known = std::any_of(one.log_lines.begin(), one.log_lines.end(),
                                     [&](const Evidence& other) { return other.source == row.source && other.value == row.value; });
      if (!known) one.log_lines.push_back(std::move(row));
    };
    const std::size_t most = one.log_lines.empty() ? LogMatcher::most_lines : 2;  // of a further message
    std::size_t shown = 0;
    for (const MatchedLine& line : message.lines) {
      if (shown == most) break;
      if (shown++ == 0) {
        for (const NumberedLine& frame : line.frames) add_line(frame);
      }
      add_line(line.line);
    }
    if (message.count <= shown) return;
    const std::uint64_t more = message.count - shown;
    const std::string at_least = message.count >= LogMatcher::enough_matches ? "at least " : "";
    one.log_lines.push_back({log_, at_least + std::to_string(more) + " more " + (more == 1 ? "line" : "lines") +
                                       " of this kind, up to line " + std::to_string(message.last)});
  }

  const LogRules& rules_;
  const std::string& log_;
  const std::optional<MachineVerdicts>& machine_;
  std::vector<Settled> settled_;
};

}  // namespace

std::vector<const Check*> checks_for(const std::vector<LogMessage>& messages) {
  std::vector<const Check*> checks;
  std::set<std::string_view> seen;
  for (const LogMessage& message : messages) {
    for (const CandidateCause* cause : message.candidates) {
      const Check* check = find_check(cause->finding);
      if (check != nullptr && seen.insert(check->id).second) checks.push_back(check);
    }
  }
  return checks;
}

std::vector<Finding> judge(const std::vector<LogMessage>& messages, const LogRules& rules, const std::string& log,
                           const std::optional<MachineVerdicts>& machine) {
  return Judge(rules, log, machine).run(messages);
}

}  // namespace sage
