#include "doctor/config/config.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

#include <toml++/toml.h>

#include "probes/base/nearest.hpp"
#include "probes/base/toml_guard.hpp"

namespace sage {
namespace {

const std::vector<std::string_view> top_keys = {"search_paths", "target", "tables", "ignore"};
const std::vector<std::string_view> ignore_keys = {"reason", "until"};

class Parser {
 public:
  Parser(const std::string& file, const std::vector<std::string_view>& known_ids) : file_(file), known_ids_(known_ids) {}

  Result<Config> run(const std::string& text) {
    if (auto problem = toml_text_problem(text, file_)) return *problem;
    const toml::parse_result parsed = toml::parse(std::string_view(text), std::string_view(file_));
    if (!parsed) {
      return at(parsed.error().source(), std::string(parsed.error().description()));
    }
    const toml::table& table = parsed.table();
    for (const auto& [key, value] : table) read_top(std::string(key.str()), value);
    if (problem_) return *problem_;
    return config_;
  }

 private:
  [[nodiscard]] Error at(const toml::source_region& where, const std::string& what) const {
    return {0, file_ + ":" + std::to_string(where.begin.line) + ": " + what};
  }

  void complain(const toml::node& node, const std::string& what) {
    if (!problem_) problem_ = at(node.source(), what);
  }

  std::string text_of(const toml::node& node, const std::string& key) {
    const auto value = node.value<std::string>();
    if (!node.is_string() || !value) {
      complain(node, "'" + key + "' must be a string");
      return {};
    }
    return *value;
  }

  void read_top(const std::string& key, const toml::node& node) {
    if (key == "search_paths") {
      read_paths(node);
    } else if (key == "target") {
      config_.target = text_of(node, key);
    } else if (key == "tables") {
      config_.tables = text_of(node, key);
    } else if (key == "ignore") {
      read_ignore(node);
    } else {
      complain(node, "unknown key '" + key + "'" + did_you_mean(key, top_keys));
    }
  }

  void read_paths(const toml::node& node) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return complain(node, "'search_paths' must be a list of folders");
    for (const toml::node& item : *list) {
      const std::string path = text_of(item, "search_paths");
      if (!problem_ && !path.starts_with('/')) complain(item, "'" + path + "' must be an absolute path");
      config_.search_paths.push_back(path);
    }
  }

  void read_ignore(const toml::node& node) {
    const toml::table* rules = node.as_table();
    if (rules == nullptr) return complain(node, "write ignore rules as [ignore.\"check.id\"]");
    for (const auto& [key, value] : *rules) {
      const std::string id(key.str());
      const toml::table* rule = value.as_table();
      if (rule == nullptr) {
        complain(value, "write the rule as [ignore.\"" + id + "\"] with a reason");
      } else if (std::find(known_ids_.begin(), known_ids_.end(), id) == known_ids_.end()) {
        complain(value, "unknown check '" + id + "'" + did_you_mean(id, known_ids_) +
                            "; 'sage-doctor list' shows them all");
      } else {
        read_rule(id, *rule);
      }
    }
  }

  void read_rule(const std::string& id, const toml::table& table) {
    IgnoreRule rule;
    rule.id = id;
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      if (name == "reason") {
        rule.reason = text_of(value, name);
      } else if (name == "until") {
        const auto date = value.value<toml::date>();
        if (!value.is_date() || !date) {
          complain(value, "'until' must be a date: until = 2027-01-31");
        } else {
          char text[16];
          std::snprintf(text, sizeof text, "%04u-%02u-%02u", unsigned{date->year}, unsigned{date->month},
                        unsigned{date->day});
          rule.until = text;
        }
      } else {
        complain(value, "unknown key '" + name + "'" + did_you_mean(name, ignore_keys));
      }
    }
    if (rule.reason.empty()) complain(table, "[ignore.\"" + id + "\"] needs a reason");
    config_.ignore.push_back(std::move(rule));
  }

  const std::string& file_;
  const std::vector<std::string_view>& known_ids_;
  Config config_;
  std::optional<Error> problem_;
};

}  // namespace

Result<Config> parse_config(const std::string& text, const std::string& file,
                            const std::vector<std::string_view>& known_ids) {
  return Parser(file, known_ids).run(text);
}

std::vector<IgnoreRule> suppress(std::vector<Finding>& findings, const std::vector<IgnoreRule>& rules,
                                 const std::string& today) {
  const auto expired = [&](const IgnoreRule& rule) { return rule.until && *rule.until < today; };
  for (Finding& finding : findings) {
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const IgnoreRule& r) { return r.id == finding.id && !expired(r); });
    if (rule == rules.end()) continue;
    finding.suppressed = true;
    finding.suppressed_reason = rule->reason;
  }
  std::vector<IgnoreRule> over;
  std::copy_if(rules.begin(), rules.end(), std::back_inserter(over), expired);
  return over;
}

}  // namespace sage
