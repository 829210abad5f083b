#include "probes/wsl_conf.hpp"

#include <algorithm>

#include "probes/base/text.hpp"

namespace sage {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

/// A value without quotes, escapes and comment; nullopt when a quote is left open or an escape is unknown.
std::optional<std::string> unquoted(std::string_view text) {
  std::string value;
  std::size_t kept = 0;  // without the blanks at the end
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      in_quotes = !in_quotes;
      kept = value.size();
      continue;
    }
    if (c == '#' && !in_quotes) break;
    if (c == '\\') {
      constexpr std::string_view escapes = "\\\"bnt";
      constexpr std::string_view meanings = "\\\"\b\n\t";
      const std::size_t which = i + 1 < text.size() ? escapes.find(text[++i]) : std::string_view::npos;
      if (which == std::string_view::npos) return std::nullopt;
      c = meanings[which];
    }
    value += c;
    if (c != ' ' && c != '\t') kept = value.size();
  }
  if (in_quotes) return std::nullopt;
  value.resize(kept);
  return value;
}

}  // namespace

WslConf::WslConf(std::string_view text) {
  std::string section;
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    if (line.starts_with('[')) {
      const std::size_t end = line.find(']');
      if (end == std::string_view::npos || !is_name(line.substr(1, end - 1))) continue;
      section = to_lower(line.substr(1, end - 1));
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, equals));
    const auto value = unquoted(trim(line.substr(equals + 1)));
    if (is_name(key) && value) values_.try_emplace(section + "." + to_lower(key), *value);
  }
}

std::optional<std::string> WslConf::value(std::string_view section, std::string_view key) const {
  const auto found = values_.find(to_lower(section) + "." + to_lower(key));
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

bool WslConf::flag(std::string_view section, std::string_view key, bool fallback) const {
  const std::string text = to_lower(value(section, key).value_or(""));
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return fallback;
}

}  // namespace sage
