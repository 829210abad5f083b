#include "doctor/report/page_text.hpp"

#include <re2/re2.h>

#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

std::string without_links(std::string_view page) {
  std::string text(page);
  RE2::GlobalReplace(&text, R"(\[([a-z0-9.-]+)\]\([a-z0-9.-]+\.md\))", R"(\1)");
  return text;
}

/// Blanks at the front of a line and, for a list item, its mark: "  * ", "1. ".
std::string lead_of(std::string_view line) {
  std::size_t end = line.find_first_not_of(' ');
  const std::size_t digits = line.find_first_not_of("0123456789", end);
  if (line.substr(end).starts_with("* ")) {
    end += 2;
  } else if (digits > end && digits != std::string_view::npos && line.substr(digits).starts_with(". ")) {
    end = digits + 2;
  }
  return std::string(line.substr(0, end));
}

bool begins_item(std::string_view lead) {
  return !trim(lead).empty();
}

}  // namespace

std::string page_text(std::string_view page, std::size_t width) {
  std::string out;
  std::string lead;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += wrapped(paragraph, lead, std::string(lead.size(), ' '), width);
    paragraph.clear();
  };
  bool fenced = false;
  const std::string text = without_links(page);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);

    const std::string_view bare = trim(line);
    const bool fence = bare.starts_with("```");
    if (fenced || fence || bare.empty() || line.starts_with('#') || bare.starts_with('|')) {
      end_paragraph();
      out += std::string(line) + "\n";
      fenced = fence ? !fenced : fenced;
      continue;
    }
    const std::string own = lead_of(line);
    if (begins_item(own)) end_paragraph();
    if (paragraph.empty()) {
      lead = own;
      paragraph = line.substr(own.size());
    } else {
      paragraph += " " + std::string(bare);
    }
  }
  end_paragraph();
  return out;
}

}  // namespace sage
