#include "probes/base/text_template.hpp"

#include <algorithm>

#include "probes/base/text.hpp"

namespace sage {
namespace {

bool is_word(std::string_view text) {
  const auto of_a_word = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), of_a_word);
}

std::string filled(std::string_view line, const std::map<std::string, std::string>& words) {
  std::string text;
  while (true) {
    const std::size_t begin = line.find('@');
    text += line.substr(0, begin);
    if (begin == std::string_view::npos) return text;
    const std::size_t end = line.find('@', begin + 1);
    const std::string_view name = end == std::string_view::npos ? "" : line.substr(begin + 1, end - begin - 1);
    const auto word = is_word(name) ? words.find(std::string(name)) : words.end();
    if (word == words.end()) {
      text += '@';
      line.remove_prefix(begin + 1);
    } else {
      text += word->second;
      line.remove_prefix(end + 1);
    }
  }
}

}  // namespace

TextTemplate::TextTemplate(std::string_view text) {
  std::string* section = nullptr;
  for (const std::string_view line : lines(text)) {
    if (line.starts_with("@@")) {
      section = &sections_[std::string(line.substr(2))];
    } else if (section != nullptr) {
      *section += std::string(line) + "\n";
    }
  }
}

std::string TextTemplate::fill(std::string_view name, const std::map<std::string, std::string>& words) const {
  const auto section = sections_.find(name);
  if (section == sections_.end()) return "";
  std::string text;
  for (const std::string_view line : lines(section->second)) {
    const std::string result = filled(line, words);
    const bool dropped = result.empty() && !line.empty();
    if (dropped) continue;
    text += result;
    if (!result.ends_with('\n') || line.empty()) text += '\n';
  }
  return text;
}

}  // namespace sage
