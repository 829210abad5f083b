#pragma once

#include <map>
#include <string>
#include <string_view>

namespace sage {

/// A template file: sections, each after a line "@@name", in which @WORD@ stands for a text.
class TextTemplate {
 public:
  explicit TextTemplate(std::string_view text);

  /// The section with every @WORD@ of `words` replaced, once: what comes in is not looked at again. Other @WORD@s stay.
  /// A line that consists of one such word alone, whose text is empty, goes away. No such section: "".
  [[nodiscard]] std::string fill(std::string_view section, const std::map<std::string, std::string>& words) const;

 private:
  std::map<std::string, std::string, std::less<>> sections_;
};

}  // namespace sage
