#include "doctor/report/finding_page.hpp"

#include "probes/base/embedded.hpp"
#include "probes/base/text.hpp"

namespace sage {

std::string_view finding_page(std::string_view id) {
  const std::string name = std::string(id) + ".md";
  for (const EmbeddedFile& page : embedded_finding_pages()) {
    if (page.name == name) return page.text;
  }
  return "";
}

std::string meaning_of(std::string_view page) {
  std::string meaning;
  bool inside = false;
  for (const std::string_view line : lines(page)) {
    if (line == "## What it means") {
      inside = true;
    } else if (inside && line.empty() && !meaning.empty()) {
      break;
    } else if (inside && !line.empty()) {
      meaning += (meaning.empty() ? "" : " ") + std::string(trim(line));
    }
  }
  return meaning;
}

}  // namespace sage
